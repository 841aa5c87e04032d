"""scikit-learn translation and nothing else."""
