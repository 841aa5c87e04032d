"""What a loader and a saver of models must survive."""
