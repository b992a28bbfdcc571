"""What privacy costs, who keeps count of it, and where its noise comes from."""
