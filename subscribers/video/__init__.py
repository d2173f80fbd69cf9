"""Pictures: bookmarks into video systems, subtitles, and clips of rounds."""
