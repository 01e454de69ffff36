"""Times of RFC 3339 as nanoseconds since 1970, so that they can be compared and added."""
from datetime import datetime, timedelta

START = datetime(1970, 1, 1)


def instant(text):
    whole, fraction = text.rstrip("Z"), ""
    if "." in whole:
        whole, fraction = whole.split(".")
    seconds = (datetime.fromisoformat(whole) - START).total_seconds()
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0") or 0)


def text(at):
    seconds, rest = divmod(at, 10**9)
    return (START + timedelta(seconds=seconds)).isoformat() + (f".{rest:09}".rstrip("0") if rest else "") + "Z"
