"""The commands of the laboratory, which `adelic` finds by the entry points `adelic.commands`."""
