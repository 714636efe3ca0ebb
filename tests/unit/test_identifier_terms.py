"""How identifiers, numbers and addresses are found: whole, in parts, and not by what only looks alike."""

from __future__ import annotations

import pytest
from found_terms import found_among, unmatched_among

from gitmem.analysis import analyze_query, count_terms


@pytest.mark.parametrize(
    ("query", "found", "others"),
    [
        # A number is found as itself, and as a part of what it is a part of.
        ("word9999", ["use word9999"], ["use word9998", "#9999 things", "word up"]),
        ("9999", ["use word9999", "#9999 things"], ["use word9998", "99990"]),
        ("#42", ["issue #42", "42 things"], ["issue #43", "4 2", "142"]),
        ("pages 3-5", ["pages 3-5"], ["35 things"]),
        ("3.14", ["pi is 3.14"], ["3 and 14", "31 4", "3.15"]),
        ("2.3.1", ["release 2.3.1", "at v2.3.1", "2.3.1-rc1", "python-2.3.1.tar.gz"],
         ["2.3.2", "2.3.10", "1 day"]),
        ("v2.3.1", ["release 2.3.1", "at v2.3.1", "V2.3.1-beta"], ["v2.3.2", "v2", "3 things"]),
        ("2.3", ["release 2.3.1", "v2.3", "Python2.3"], ["3.2", "2 of 3"]),
        ("v2", ["at v2.3.1", "the V2 api"], ["v3", "2 things"]),
        ("3.12", ["Python 3.12", "python3.12", "python3.12-slim"], ["3.11", "3 or 12"]),
        ("python3", ["Python 3.12", "python3", "Python 3"], ["3 things", "a python"]),
        ("PostgreSQL16", ["PostgreSQL 16"], ["PostgreSQL 15", "MySQL 5", "16 things"]),
        ("1234.56", ["costs $1,234.56", "1234.56 €"], ["1,234", "56"]),
        ("$1,234.56", ["costs $1,234.56", "1234.56 €"], ["1,235.56"]),
        ("404", ["codes 200,404,500", "HTTP 404"], ["4040", "40 4"]),
        ("1000000", ["1_000_000 rows", "1,000,000 rows", "1000000"], ["1000", "100"]),
        # Units
        ("10GB", ["a 10GB disk", "a 10 GB disk"], ["a 100GB disk", "10 disks"]),
        ("5km", ["5km", "5 km away"], ["15km", "15 km"]),
        ("10 GB", ["a 10 GB disk", "a 10GB disk"], ["100 MB"]),
        # Telephone numbers, however they are grouped
        ("555-123-4567", ["(555) 123-4567", "call 555-123-4567", "5551234567"], ["555-123-4568", "555"]),
        ("+491701234567", ["+49 170 1234567"], ["+49 170 1234568"]),
        ("1234567", ["+491701234567", "+49 170 1234567", "123-4567"], ["1234568"]),
        # Times and dates
        ("2026-11-30", ["at 2026-11-30T18:44:49Z", "on 2026-11-30"], ["2026-11-29", "30 days", "11 things"]),
        ("2026-11", ["at 2026-11-30T18:44:49Z", "on 2026-11-30"], ["2026-12-11", "11 things"]),
        ("18:44", ["at 2026-11-30T18:44:49.123+01:00", "18:44"], ["18 of 44", "44:18"]),
        # Addresses
        ("192.168.0.1", ["ping 192.168.0.1", "at 192.168.0.1:8080"], ["192.168.0.10", "10.0.0.1", "168"]),
        ("192.168.0", ["ping 192.168.0.1"], ["192.168.1.1", "192"]),
        ("fe80::1", ["ip fe80::1"], ["fe81::2"]),
        ("example.com", ["see https://www.example.com:8080/a?b=c", "to olivia@example.com"],
         ["x.com", "com"]),
        ("example.com/a/b", ["see https://example.com/a/b"], ["other.org/a/c"]),
        ("olivia@example.com", ["to olivia@example.com"], ["to aria@other.com"]),
        ("@olivia", ["@olivia said", "olivia said"], ["@oliver said"]),
        ("#release-notes", ["in #release-notes", "the release notes"], ["unrelated"]),
        ("localhost:8080", ["on localhost:8080"], ["80 80"]),
        # Paths
        ("main.py", ["src/api/main.py", r"C:\src\main.py"], ["mine"]),
        (r"src\api\main.py", ["src/api/main.py"], ["a car"]),
        (r"notes\x.txt", [r"C:\Users\aria\notes\x.txt"], ["x y"]),
        ("/etc/nginx/nginx.conf", ["edit /etc/nginx/nginx.conf"], ["configure"]),
        # Hexadecimal numbers by their digits, ids by their blocks; no number by the digits of another
        ("deadbeef", ["at 0xDEADBEEF", "deadbeef"], ["0xDEADBEE", "dead beef"]),
        ("1234", ["word1234"], ["0x1234", "123e4567-e89b-1234-a456-426614174000"]),
        ("e89b", ["id 123e4567-e89b-12d3-a456-426614174000", "ID 123E4567-E89B-12D3-A456-426614174000"],
         ["123e4567-e89c-12d3-a456-426614174000"]),
        ("12d3", ["id 123e4567-e89b-12d3-a456-426614174000"], ["12 d3"]),
        ("123e4567", ["id 123e4567-e89b-12d3-a456-426614174000"], ["123"]),
        ("426614174000", ["id 123e4567-e89b-12d3-a456-426614174000"], ["4266"]),
        # Negations without their apostrophe; other words keep theirs: `shell` is not `she'll`
        ("dont", ["I don’t know", "I don't know", "dont"], ["donut", "do"]),
        ("wont", ["it won't start"], ["it will"]),
        ("shell", ["the shell"], ["she'll come"]),
        # Hashes and ids
        ("a38443b", ["commit a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d", "a38443b"], ["a 38443 b", "b"]),
        ("4bf92f3", ["trace 4bf92f3577b34da6a3ce929d0e0e4736"], ["4 bf 92 f 3"]),
        ("a38443b75c", ["commit a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d", "a38443b"], ["a38443c"]),
        ("a38443b75c1de02f1c1f9a9c7f4e4e6d0a1b2c3d", ["in a38443b"], ["a38443"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["id 550E8400-E29B-41D4-A716-446655440000"],
         ["e 29 b", "41d4"]),
        ("550e8400", ["id 550e8400-e29b-41d4-a716-446655440000"], ["8400"]),
        ("550e8400e29b41d4a716446655440000", ["id 550e8400-e29b-41d4-a716-446655440000"], ["8400"]),
        # Error codes and options
        ("E1234", ["error E1234", "error e-1234"], ["error E1235", "1234 things", "e"]),
        ("0x8007", ["code 0x8007", "code 0X8007"], ["0x80070005", "8007"]),
        ("0xdeadBEEF", ["at 0xDEADBEEF"], ["beef", "0"]),
        ("ORA-01555", ["ORA-01555: snapshot"], ["ORB-01555", "1555", "E01555"]),
        ("PROJ-1234", ["in PROJ-1234", "PROJ 1234", "proj1234"], ["E1234", "costs 1,234", "1234"]),
        ("ERR_CONN_REFUSED", ["net::ERR_CONN_REFUSED"], ["all fine"]),
        ("--no-verify", ["git commit --no-verify"], ["no way", "no"]),
        ("-rf", ["rm -rf x"], ["r f"]),
        # Names
        ("getUserName", ["getUserName()", "get_user_name", "get-user-name"],
         ["get it", "a user", "his name"]),
        ("get_user_name", ["x.getUserName()", "GET_USER_NAME"], ["it"]),
        ("HTTPServer", ["class HTTPServer", "http_server"], ["a server", "http"]),
        ("GitHub", ["on GitHub", "github.com/x"], ["git", "a hub"]),
        ("MAX_RETRIES", ["MAX_RETRIES = 5", "maxRetries"], ["nothing"]),
        ("std::vector", ["std::vector<int> x"], ["another"]),
        ("C++", ["in C++"], ["in C", "C# code"]),
        ("C#", ["in C#", "C#12 only"], ["in C", "F# code", "C++"]),
        ("F#", ["in F#"], ["F major", "C#"]),
        (".NET", ["on .NET 8", "ASP.NET"], ["network"]),
        ("nodejs", ["Node.js 18", "node.js"], ["node"]),
        ("Node.js", ["nodejs and Node.js", "node.js"], ["something"]),
        ("k8s", ["the k8s cluster", "K8S"], ["8 things", "s"]),
        ("S3", ["in s3://bucket", "S3"], ["3 things", "s"]),
        ("x86", ["x86_64 only", "x86"], ["86", "x"]),
        ("H2O", ["H₂O"], ["2", "o"]),
        ("I/O", ["an I/O error"], ["i o"]),
        ("PhD", ["her Ph.D. thesis"], ["pH of D"]),
        ("USA", ["the U.S.A.", "USA"], ["us a"]),
        ("AT&T", ["the AT&T bill"], ["at"]),
        ("R&D", ["our R&D"], ["r", "d"]),
        ("O'Brien", ["the O’Brien account"], ["o"]),
    ],
)  # fmt: skip
def test_what_is_found(query: str, found: list[str], others: list[str]) -> None:
    """Who asks for an identifier wants what has it, not every text that has a digit or a letter of it."""
    assert set(found_among([*others, *found], query)) == set(found)


@pytest.mark.parametrize(
    ("query", "first", "behind"),
    [
        ("ADR-016", "see ADR-016", ["see ADR-017"]),
        ("memory.char_limit", "set memory.char_limit", ["char_limit", "a limit", "memory"]),
        ("api/main.py", "src/api/main.py", ["main.py", "an api"]),
        ("PostgreSQL 16", "PostgreSQL 16", ["16 things", "PostgreSQL 15"]),
        ("port 2222", "port 2222", ["2222 things", "port 2223"]),
        ("user_42", "user_42", ["user_43"]),
    ],
)
def test_parts_come_behind_the_whole(query: str, first: str, behind: list[str]) -> None:
    """Words that were joined are words too, but what has them all is meant (OPEN-SEARCH-04)."""
    assert found_among([*behind, first], query)[0] == first
    assert set(found_among([*behind, first], query)) == {first, *behind}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("getUserName", "the name of a user"),
        ("ticket12345", "ticket no. 12345"),
        ("PROJ-1234", "number 1234"),
        ("C++", "the language C"),
        ("I/O", "i and o"),
    ],
)
def test_parts_stand_in_for_an_unknown_whole(query: str, text: str) -> None:
    """Where nothing holds the identifier, what holds a telling part of it is better than nothing."""
    assert found_among([text, "unrelated"], query) == [text]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("word9998", "word9999"),
        ("E12", "12 things, 1 e"),
        ("2.3.1", "2.3.9 and 2.3"),
        ("192.168.0.7", "192.168.0.1 and 168"),
        ("2026-11-30", "2026-11-29, 30 days"),
        ("PostgreSQL17", "PostgreSQL 15"),
        ("10GB", "100GB of 10"),
        ("0x8007", "0x80070005"),
        ("+491701234567", "+49 170 1234568"),
        ("018f4567-e89b-72d3-a456-426614174000", "018f4567-e89b-72d4-a456-426614174001"),
        ("507f1f77bcf86cd799439011", "507f1f77bcf86cd799439012"),
    ],
)
def test_another_number_is_not_found(query: str, text: str) -> None:
    """A number that is not there is not there, whatever begins or ends like it."""
    assert found_among([text], query) == []
    assert unmatched_among([text], query) == [query.lstrip("+")]


def test_code_is_found_by_its_names() -> None:
    """Agents paste code, diffs and traces; each name in them counts."""
    trace = 'File "/srv/app/models.py", line 42, in load_user\n    raise KeyError("user_id")'
    diff = "@@ -1,3 +1,4 @@\n-    return self._cache\n+    return self._fetch(key)"
    colours = "\x1b[1;31merror\x1b[0m: \x1b[32mzébra\x1b[m"
    for text, queries in (
        (colours, ["error", "zébra", colours]),
        (trace, ["models.py", "load_user", "KeyError", "line 42", "user_id", trace]),
        (diff, ["_fetch", "self._cache", "fetch(key)", diff]),
        ('{"port": 2222, "host": "db.internal"}', ["port 2222", "db.internal", '"port": 2222']),
    ):
        for query in queries:
            assert found_among([text, "x"], query) == [text], query


def test_parts_of_an_identifier_do_not_make_a_text_longer() -> None:
    """Length feeds the ranking: it counts words, not terms."""
    assert count_terms("ADR-016 and v2.3.1").length == 6
    assert count_terms("PostgreSQL 16").length == 3
    assert count_terms("done 🎉🎉").length == 1


def test_what_was_asked_is_named_as_it_was_typed() -> None:
    """`unmatched_terms` repeats the asker's own spelling, not the folded one."""
    asked = "Straße cafe\u0301 שָׁלוֹם ﾃﾞﾌﾟﾛｲ手順 👍🏽 ＡＢＣ мʼята 数据库在哪里"
    assert [unit.surface for unit in analyze_query(asked)] == [
        "Straße", "cafe\u0301", "שָׁלוֹם", "ﾃﾞﾌﾟﾛｲ手順", "👍🏽", "ＡＢＣ", "мʼята", "数据库",
    ]  # fmt: skip
