"""What the model will see: windows, state frames, cache points, tokens, prices; plain Python."""
