"""The version of this package, which every file that it writes names."""

VERSION = "0.2.0"
