"""MDC: compressed models of Return to Castle Wolfenstein and Enemy Territory."""
