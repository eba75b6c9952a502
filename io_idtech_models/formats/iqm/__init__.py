"""Inter-Quake Model: IQM, the skeletal format of the free engines."""
