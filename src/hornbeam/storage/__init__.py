"""Model files: one documented, versioned format, written as JSON or safetensors, never as a pickle."""
