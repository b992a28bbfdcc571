"""x"""
TOGETHER = 16
