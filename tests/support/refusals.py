"""What a dead context, or a forked child, refuses."""


def outcome(call):
    try:
        return call()
    except OSError as error:
        return error


def check_refused(calls, text):
    """Each call raises an OSError with this text."""
    for number, call in enumerate(calls):
        error = outcome(call)
        assert isinstance(error, OSError), f"call {number} returns {error!r}"
        assert text in str(error), f"call {number}: {error}"
        assert not hasattr(error, "__notes__"), "it is the call's own failure"
