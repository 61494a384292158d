"""Settings, prompts, models, connectors, notifications, costs, memory and the doctor."""
