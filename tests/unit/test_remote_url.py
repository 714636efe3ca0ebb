"""What URLs of remotes name, how settings rewrite them, and which are refused."""

from __future__ import annotations

import pytest

from gitmem.errors import InvalidRemote
from gitmem.remote_url import RemoteUrl, parse_url, rewrite_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/srv/aria.git", RemoteUrl("path", "/srv/aria.git")),
        ("../aria.git", RemoteUrl("path", "../aria.git")),
        ("./host:aria.git", RemoteUrl("path", "./host:aria.git")),
        ("file:///srv/a%20b.git", RemoteUrl("path", "/srv/a b.git")),
        ("file://localhost/srv/a.git", RemoteUrl("path", "/srv/a.git")),
        ("git://example.com/a.git", RemoteUrl("git", "/a.git", "example.com", 9418)),
        ("git://[::1]:9000/a.git", RemoteUrl("git", "/a.git", "::1", 9000)),
        ("ssh://git@example.com:2222/srv/a.git", RemoteUrl("ssh", "/srv/a.git", "example.com", 2222, "git")),
        ("git+ssh://example.com/~/a.git", RemoteUrl("ssh", "~/a.git", "example.com")),
        ("git@example.com:a.git", RemoteUrl("ssh", "a.git", "example.com", None, "git")),
        ("example.com:/srv/a.git", RemoteUrl("ssh", "/srv/a.git", "example.com")),
        ("[::1]:a.git", RemoteUrl("ssh", "a.git", "::1")),
        ("https://example.com/a.git", RemoteUrl("https", "/a.git", "example.com", 443)),
        (
            "http://aria:s%40cret@example.com:8080/a.git",
            RemoteUrl("http", "/a.git", "example.com", 8080, "aria", "s@cret"),
        ),
        ("HTTPS://example.com/a%20b.git", RemoteUrl("https", "/a%20b.git", "example.com", 443)),
    ],
)
def test_what_urls_name(text: str, expected: RemoteUrl) -> None:
    """Every form that Git takes names what Git would connect to."""
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " /srv/a.git",
        "/srv/a\n.git",
        "-u/a.git",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "fd::17",
        "helper::address",
        "ftp://example.com/a.git",
        "rsync://example.com/a.git",
        "ssh://-oProxyCommand=touch/a.git",
        "ssh://-x@example.com/a.git",
        "-x@example.com:a.git",
        "x@-oProxyCommand=touch:a.git",
        "ssh://exa mple.com/a.git",
        "ssh://exa%0ample.com/a.git",
        "ssh://example.com/-a.git",
        "example.com:-a.git",
        "ssh://example.com/%2e%0a",
        "git://example.com:0/a.git",
        "git://example.com:x/a.git",
        "git://example.com:99999/a.git",
        "git://user@example.com/a.git",
        "ssh://user:password@example.com/a.git",
        "https:///a.git",
        "https://example.com/",
        "https://example.com",
        "example.com:",
        "file://example.com/a.git",
        "file://relative",
        "git://example.com/a%0a.git",
    ],
)
def test_what_is_refused(text: str) -> None:
    """Nothing that runs a command, could be taken for an option, or names no repository."""
    with pytest.raises(InvalidRemote):
        parse_url(text)


def test_passwords_are_not_shown() -> None:
    """Messages name a remote without its password, also those about a wrong URL."""
    assert parse_url("https://aria:secret@example.com/a.git").shown == "https://aria@example.com/a.git"
    with pytest.raises(InvalidRemote) as caught:
        parse_url("https://aria:secret@example.com:x/a.git")
    assert "secret" not in str(caught.value)


def test_the_longest_rule_rewrites() -> None:
    """Of several rules that match, Git takes the one with the longest prefix."""
    rules = [("https://mirror/", "https://"), ("ssh://git@h/", "https://h/"), ("/x/", "gone:")]
    assert rewrite_url("https://h/a.git", rules) == "ssh://git@h/a.git"
    assert rewrite_url("https://other/a.git", rules) == "https://mirror/other/a.git"
    assert rewrite_url("/srv/a.git", rules) == "/srv/a.git"
