print("waypulse")
