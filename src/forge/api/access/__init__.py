"""Who gets in: the gate, cookies, origins, limits on connections."""
