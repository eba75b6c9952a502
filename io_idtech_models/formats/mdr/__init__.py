"""MDR, the skeletal models of Star Trek: Elite Force and ioquake3."""
