"""What a session is made of: messages, segments, events and the state they fold into; plain Python."""
