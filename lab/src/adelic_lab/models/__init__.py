"""Models beside networks: scikit-learn's, and solvers of questions with exact answers."""
