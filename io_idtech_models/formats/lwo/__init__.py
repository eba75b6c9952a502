"""LWO: static models of Doom 3 and of map compilers, as LightWave writes them."""
