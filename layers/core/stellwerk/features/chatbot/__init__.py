"""The chatbot: answers from what its instance knows, and nothing else."""
