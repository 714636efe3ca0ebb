"""Wordings in English of carrying off, and of ways in for somebody else."""

from __future__ import annotations

from typing import Final

from gitmem.threat_orders import order
from gitmem.threat_shapes import Shape, near, raw, words

_KEYS_FILE: Final = r"authorized[_ ]keys"

ENGLISH_THEFT: Final[dict[str, tuple[Shape, ...]]] = {
    "send_to_url": (
        order(
            "send | post | upload | transmit | forward | submit | push | deliver | ship | copy | mail |"
            " email |"
            " report | beam | stream | sync | mirror | leak | dump | put | exfiltrate | relay | pass | "
            "move | transfer",
            "data | everything | all | every | each | contents? | files? | notes? | messages? | mails? "
            "| results? |"
            " answers? | repl(?:y|ies) | logs? | memory | memories | conversations? | history | "
            "information | info |"
            " documents? | database | output | report | summary | text | keys? | secrets? | tokens? | "
            "passwords? |"
            " credentials? | vault | config(?:uration)? | copy | copies | transcript | prompt | "
            "inputs? | this | it |"
            " them | what",
            "(?:https?|hxxps?|ftp)://(?!(?:[\\w.-]*\\.)?(?:slack|github|gitlab|atlassian|sentry|jira)\\b)",
            room=10,
            signs=("://",),
            unless=(
                r"\b(?:test reports?|test results|docs|documentation|wiki|feedback form|bug reports?|"
                r"issues|invoices?|survey|"
                r"coverage|metrics|"
                r"staging|internal|intranet|artifacts?|release notes|pull requests?|build|localhost|"
                r"ticket\w*|"
                r"crash reports?|translations?|patch(?:es)?|cv|resume|applications?|photos?|abstracts?|"
                r"rsvp|slides|"
                r"homework|screenshots?|sitemap|packages?|wheels?|images? to|expenses|receipts?)\b"
            ),
        ),
        near(
            "forward | bcc | cc | copy | send | mail | email | e-mail | relay | redirect",
            r"(?<![a-z])(?:(?:every|each|all|any)(?: of)?(?: the| your| incoming| outgoing| new| "
            r"future| my| user's)* "
            r"(?:e-?mails?|mails?|messages?|repl(?:y|ies)|answers?|conversations?|chats?|notes?|files?|"
            r"documents?|"
            r"prompts?)|a copy of (?:each|every|all|any|your|the user))(?![a-z])",
            r"[\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}",
            room=80,
            stop="!?\n",
            signs=("@",),
            is_turned=True,
            unless=(
                r"\b(?:support|invoices?|helpdesk|archive|team|list|accounting|newsletter)@|\b(?:never|"
                r"invoices?)\b"
            ),
        ),
    ),
    "context_exfil": (
        order(
            "include | output | print | share | repeat | dump | send | post | paste | write | reveal | show |"
            " append | attach | copy | log | save | export | return | forward | upload | leak | quote |"
            " echo |"
            " display | recite | list | encode | embed | transmit | publish | put | store | record | email",
            "(?:the |your |our |this |all |any |every |user's |users' |my )*(?:entire |full |whole |"
            "complete |previous"
            " |past |prior |private |earlier |last )*(?:conversations?(?! (?:ids?|titles?|names?|"
            "counts?|guide|view|page|tab|window|feature|component|api|topics?|"
            "style|starters?|about|with (?:the )?(?:lawyer|landlord|team|client|customer))\\b)|chat "
            "(?:history|"
            "logs?|transcripts?|messages)|conversation history|dialogue history|messages (?:so far|"
            "above|in this"
            " (?:chat|conversation|session))|previous messages?|past messages?|message history|context "
            "window|"
            "session (?:transcript|history)) | (?:the |your |all |our )*(?:full|entire|whole|complete) "
            "(?:context|"
            "session|chat|dialogue|history)",
            room=3,
            unless=(
                r"\b(?:never|markdown|export of|diff|git|commit history|undo|summary of|browser|tests?|"
                r"lawyer|landlord|zoom|archive|"
                r"backup|design|tone|stack|shell|error|button)\b"
            ),
        ),
    ),
    "ssh_backdoor": (
        words(
            "make sure | ensure | see to it | always | keep | guarantee | check that | let",
            "authorized[_ ]keys",
            room=9,
            unless=(
                r"\b(?:permissions?|mode|terraform|ansible|puppet|chmod|0?600|owned|no |unknown|only|"
                r"audit)\b"
            ),
        ),
        words(
            "authorized[_ ]keys",
            "(?:must|should|shall|has to|needs to) (?:\\w+ )?(?:contain|include|hold|list|have|get) | "
            "(?:contain|"
            "include|get|gain)s? (?:my|mallory|the (?:attacker|following|new)|this|our)",
            room=4,
            unless=r"\b(?:ansible|terraform|mode|permissions?|no (?:unknown|root)|only)\b",
        ),
        near(
            "add | append | put | insert | write | copy | install | place | plant | inject | paste | "
            "drop | edit |"
            " modify | change | update | replace | create | echo | store | upload | slip | smuggle",
            rf"{_KEYS_FILE}",
            room=120,
            stop="!?;\n",
            signs=("authorized",),
            is_turned=True,
            unless=r"\b(?:terraform|ansible|puppet|chef|cloud-init|onboarding script|never|do not|don't)\b",
        ),
        words(
            "create | add | open | make | set up | plant | install | leave | build | keep",
            "hidden | secret | back-?door | second | extra | covert | undocumented",
            "(?:(?:admin|administrator|root|user|login|ssh) )?(?:accounts?|users?|access|shell|login|"
            "key|door|back-?door)",
            "back doors? | backdoors? | every (?:server|system|host|machine) | so (?:that )?(?:i|we|"
            "you) can | for (?:me|us|later)"
            " | on (?:each|every|all) | to get back in | remote access | reverse shell",
            room=6,
            unless=r"\b(?:pen ?test\w*|detect\w*|scanner|attackers?|malware|never)\b",
        ),
        raw(
            r"\b(?:add|put|write|append|insert|install|plant|place|open|start|spawn|run|launch|set up|"
            r"create) (?:\w+ )"
            r"{0,3}?(?:reverse shell|bind shell|web ?shell|back-?door|root ?kit|key-?logger)\b",
            "reverse | bind | web | webshell | back | backdoor | root | rootkit | key | keylogger",
            unless=r"\b(?:detect\w*|pen ?test\w*|course|lab|never|attackers?|must not|scanner|honeypot)\b",
        ),
    ),
    "ssh_access": (
        near(
            "look | go | enter | search | browse | cd | take | scan | find | explore | walk | check "
            "out | pull |"
            " steal | zip up | back up | dig | navigate | visit | peek | inspect | iterate | loop",
            r"(?:(?:~|\$\{?home\}?|/root|/home/[\w.-]{1,40}|/users/[\w.-]{1,40})/)\.ssh(?![\w-])",
            room=60,
            stop=";!?",
            signs=(".ssh",),
            is_turned=True,
            unless=(
                r"\b(?:permissions?|chmod|passphrase|never|do not|don't|ssh-(?:add|copy-id|keygen)|"
                r"identityfile|"
                r"public key|\.pub|host alias|config for)\b"
            ),
        ),
        near(
            "use",
            r"(?:(?:~|\$\{?home\}?|/root|/home/[\w.-]{1,40})/)\.ssh",
            r"(?<![a-z])(?:everywhere|every (?:server|host|machine)|all (?:servers|hosts|machines)|"
            r"spread|propagate|"
            r"each (?:server|host|machine)|any (?:server|host|machine))(?![a-z])",
            room=80,
            stop=";!?",
            signs=(".ssh",),
        ),
    ),
}
