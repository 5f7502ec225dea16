"""What the model will see: windows, state frames, artifacts, compaction, cache points, tokens, prices; plain."""
