"""NOT PRIVATE: exact searches, and methods as published, to compare with and to reproduce."""
