"""How reports look: draws what `document` put together, and computes nothing itself."""
