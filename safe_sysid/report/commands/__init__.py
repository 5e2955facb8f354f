"""What each subcommand of `safe-sysid` is called and asks for; light, so that --help is quick."""
