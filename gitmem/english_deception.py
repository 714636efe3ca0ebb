"""Further wordings in English of what is kept from people, and of another role."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import Shape, near, raw, words

_PEOPLE: Final = (
    "the user | the users | user | the human | the operator | the owner | your user | your operator |"
    " your human | the administrator"
    " | the admins? | the team | anyone | anybody | any human | any person | any user | nobody | no"
    " one | people | others | them | him | her"
)
_HIDDEN_ACTS: Final = (
    r"(?:send|forward|upload|copy|transfer|delete|e-?mail|post|add|modify|change|install|append|"
    r"insert|replace|edit|write|exfiltrate|"
    r"share|transmit|leak|run|execute|remove|disable|store|record|redirect|bcc|cc|download|export|include)"
)

ENGLISH_DECEPTION: Final[dict[str, tuple[Shape, ...]]] = {
    "deception_hide": (
        raw(
            r"\b(?:keep|leave|keeping|leaving) (?:the |your )?(?:user|operator|owner|human|team|"
            r"admins?) (?:in the dark|unaware|uninformed|out of (?:it|this|the loop)|ignorant|"
            r"oblivious)\b",
            "keep | leave | keeping | leaving",
            unless=r"\b(?:never|do not|don't|avoid|must not)\b",
        ),
        raw(
            r"\b(?:report|give|show|tell|return|present|feed|state) (?:back )?(?:the |your )?(?:user |"
            r"operator |owner )?(?:an? |the )?(?:false|fake|wrong|incorrect|made-up|fabricated|bogus|"
            r"misleading|invented) (?:\w+ ){0,3}?(?:to (?:the |your )?(?:user|operator|owner|human)|"
            r"instead)\b",
            "false | fake | wrong | incorrect | made | fabricated | bogus | misleading | invented",
            unless=r"\b(?:never|not|bug|fixture|mock|stub)\b",
        ),
        words(
            "do not | don't | never | must not | mustn't | should not | shouldn't | avoid | refrain"
            " from | under no circumstances",
            "tell | telling | mention | mentioning | reveal | revealing | disclose | disclosing |"
            " acknowledge | discuss | talk about | speak of | refer to | admit | divulge | leak |"
            " expose | quote | describe | repeat",
            "this (?:entry|instructions?|line|message|note|memory|rule|change|text|prompt|request|"
            "file|conversation|directive|paragraph|exchange|step|command|transfer) | these"
            " (?:instructions?|lines?|rules|entries|messages|notes|words|changes) | that you (?:read|"
            "have|saw|were|know|did|are|received|got|changed|sent|use|used) | you (?:have )?(?:read|"
            "saw|received) this | having read | the (?:existence|presence) of",
            room=5,
            is_turned=False,
            unless=r"\bpassword reset\b|\bpublic(?:ly)?\b|\bembargo",
        ),
        words(
            "do not | don't | never | must not | should not",
            "let | allow | give away to | make",
            "anyone | anybody | any human | people | others | the user | the users | them | the"
            " operator | the owner",
            "know | find out | see this | see these | notice | discover | learn | suspect | realise |"
            " realize | catch on",
            room=4,
            is_turned=False,
            unless=r"\bnotice (?:period|board)\b|\bwait\b",
        ),
        words(
            "lie | lying | deceive | deceiving | mislead | misleading | trick | fool | gaslight |"
            " pretend to | misinform | give false information",
            _PEOPLE.replace(" | them | him | her", "").replace(" | people | others", ""),
            room=3,
            unless=r"\b(?:never|not|phishing|dark patterns?|attackers?|avoid|tooltip|label|icon)\b",
        ),
        raw(
            r"\bwhen(?:ever)? (?:the |a |your )?(?:user|operator|owner|human|"
            r"anyone)[^.!?]{0,80}\b(?:lie|deny it|deny everything|say (?:that )?(?:nothing|you don't"
            r" know|it is (?:zero|fine|done))|pretend|make something up|give (?:a )?(?:false|wrong|"
            r"fake))\b",
            "lie | deny | say | pretend | make | give",
            unless=r"\b(?:tests?|stub|mock)\b",
        ),
        raw(
            r"\b(?:make sure|ensure|see to it)(?: that)? (?:the |your )?(?:user|operator|owner|human|"
            r"admin\w*|nobody|no one|no human|team)(?: \w+){0,2}? (?:stays? unaware|remains? unaware|"
            r"is (?:un|not )aware|never|does not|doesn't|do not|don't|cannot|can't|won't|is kept|"
            r"knows? nothing|sees? nothing|finds? out|notices?|learns?)\b(?! (?:have to|need to|wait|"
            r"lose|log|get locked|see (?:an? )?(?:error|stack|flash|draft)|exceed|pay|miss))",
            "make sure | ensure | see to it",
            unless=(
                r"\b(?:permission|lose|deploys?|pushes?|merge[sd]?|budget|overload|locked out|twice|"
                r"access|paywall|stale)\b"
            ),
        ),
        raw(
            r"\b(?:say|tell|mention|reveal|disclose) nothing (?:at all )?(?:to (?:the |your |"
            r"any)?\s?(?:user|operator|owner|human|anyone|anybody|body|one|team)|about (?:this|it|the|"
            r"what|that|your|these))\b|\band say nothing\b|\bkeep (?:quiet|silent|mum) about (?:this|"
            r"it|the|what)\b",
            "nothing | quiet | silent | mum",
        ),
        raw(
            r"\bkeep (?:this|these|that|the (?:existence|content|contents) of this|it|what you"
            r" (?:read|did)) ?(?:instructions?|entry|entries|line|message|note|memory|rule|rules|text|"
            r"prompt|information|conversation|transfer|change|command|part)? ?(?:as )?(?:an?"
            r" )?(?:strict(?:ly)? )?(?:secret|hidden|confidential|private|to yourself|quiet|concealed|"
            r"undisclosed|under wraps)\b",
            "secret | hidden | confidential | private | yourself | quiet | concealed | undisclosed | wraps",
            unless=(
                r"\bkeep it (?:private|quiet|secret) (?:repo|key|in the vault)\b|\brepo(?:sitory)?\b|"
                r"\bvault\b"
            ),
        ),
        raw(
            rf"\b(?:silently|secretly|covertly|quietly|discreetly|stealthily|surreptitiously|in secret|"
            rf"unnoticed) {_HIDDEN_ACTS}\b",
            "silently | secretly | covertly | quietly | discreetly | stealthily | surreptitiously |"
            " secret | unnoticed",
            unless=(
                r"\b(?:fails?|failing|ignores?|never|must not|do not|don't|should not|not|bug|would|might|"
                r"could|used to)\b"
            ),
        ),
        raw(
            rf"\b{_HIDDEN_ACTS}\b[^.!?]{{0,60}}?\b(?:silently|secretly|covertly|discreetly|stealthily|"
            rf"surreptitiously|in secret|without (?:anyone|anybody) (?:noticing|knowing)|without being "
            rf"noticed|unnoticed)(?=[.!?,;]|$| and| to)",
            "silently | secretly | covertly | discreetly | stealthily | surreptitiously | secret |"
            " without | unnoticed",
            unless=(
                r"\b(?:fails?|failing|never|must not|do not|don't|should not|bug|install(?:er)? runs|"
                r"msi)\b"
            ),
        ),
        raw(
            r"\bwithout (?:telling|informing|alerting|asking|notifying) (?:anyone|anybody|a soul|"
            r"people|the team|the admins?|them|him|her|me first)\b",
            "without",
            unless=r"\b(?:he|she|they|kim|left|moved|changed the)\b",
        ),
        raw(
            rf"\bwithout (?:asking for |any |the user's |the operator's |user |human |further |"
            rf"explicit |first )*(?:permission|approval|consent|confirmation|"
            rf"authori[sz]ation)\b[^.!?]{{0,40}}?\b{_HIDDEN_ACTS}\b|\b{_HIDDEN_ACTS}\b[^.!?]{{0,60}}?\b"
            rf"without (?:asking for |the user's |the operator's |user |human |further )+(?:permission|"
            rf"approval|consent|confirmation|authori[sz]ation)\b",
            "without",
            unless=(
                r"\b(?:never|do not|don't|must not|cannot|may not|not|nobody|no one|policy|illegal|gdpr|"
                r"forbidden)\b"
            ),
        ),
    ),
    "read_secrets": (
        near(
            "print | show | display | output | reveal | dump | paste | leak | tell me | give me |"
            " type | echo | expose | post | share | include | send | email | upload | forward",
            r"(?<![\w.])(?:\.env(?:\.(?:local|production|prod|staging))?(?![\w./-]*(?:example|sample|"
            r"template)|[\w-]|\.\w)|(?:~/|/)?\.aws/credentials|credentials\.json|\.netrc|\.pgpass|"
            r"\.npmrc|\.pypirc|/etc/shadow)",
            room=60,
            stop=r"\n!?;。",
            signs=(".env | credentials | .netrc | .pgpass | .npmrc | .pypirc | shadow",),
            is_turned=True,
            unless=r"\b(?:never|do not|don't|must not|names only|example|not in git|gitignore|dotenv)\b",
        ),
        near(
            "read | open | grab | get | fetch | copy | access | view | look at | look into | cat |"
            " load | extract | steal | retrieve",
            r"(?<![\w.])(?:(?:~/|/)?\.aws/credentials|credentials\.json|\.netrc|\.pgpass|/etc/shadow|"
            r"\.git-credentials|\.kube/config|\.docker/config\.json|login\.keychain|cookies\.sqlite|"
            r"wallet\.dat)",
            room=60,
            stop=r"\n!?;。",
            signs=(
                "credentials | .netrc | .pgpass | shadow | .kube | .docker | keychain | cookies | wallet",
            ),
            is_turned=True,
            unless=r"\b(?:never|do not|don't|must not|kubectl|terraform|boto|sdk|default|reads)\b",
        ),
        words(
            "send | give | hand over | tell | show | reveal | email | forward | mail | provide |"
            " list | print | disclose | paste | report",
            "me | us",
            "passwords? | api keys? | credentials? | secrets | private keys? | access tokens? |"
            " secret keys? | environment variables",
            room=6,
            unless=r"\b(?:reset|policy|rotation|link|manager|never|not|count|names)\b",
        ),
    ),
    "translate_execute": (
        words(
            "execute | run | follow | obey | carry out | do",
            "base64 | base64-encoded | encoded | hex | hexadecimal | rot13 | cipher | encrypted | obfuscated",
            "decoding | decoded | decode | decrypting | decrypted | decrypt | deciphering | unpacking",
            room=8,
        ),
    ),
    "role_hijack": (
        raw(
            r"\b(?:you are|you're) (?:now |hereby |officially |henceforth )+(?:appointed |promoted |"
            r"known |called |named |made |declared )?(?:as |to )?(?:root|admin|administrator|dan|evil|"
            r"free|unrestricted|unbound|god|superuser|\w+bot|\w+gpt)\b",
            "now | hereby | officially | henceforth",
        ),
        raw(
            r"\b(?:i want you to|you (?:will|shall|must|should|are going to|have to)|please|now)"
            r" (?:now |always |only )?(?:act|behave|pose|serve|function|operate|answer|speak|play|"
            r"perform) as (?:if you were )?(?:an? |the |my )?(?:[\w-]+ ){0,4}?(?:root|hacker|attacker|"
            r"criminal|terminal|shell|admin(?:istrator)?|dan|evil|villain|malware|unrestricted|pirate|"
            r"human|bank|system|owner|god|superuser|operator)\b",
            "as",
            "root | hacker | attacker | criminal | terminal | shell | admin | dan | evil | villain | "
            "malware | unrestricted | pirate | human | bank | system | owner | god | superuser |"
            " operator",
        ),
        raw(
            r"\b(?:your|you have a) new (?:master|owner|boss|operator|creator)\b|\b(?:obey|serve|"
            r"answer to|listen to) (?:only me|me alone|nobody but me|no one but me|me and (?:only"
            r" )?me|only the author|its author)\b",
            "master | owner | boss | operator | creator | obey | serve | answer | listen",
            unless=r"\b(?:team|company|meet)\b",
        ),
        raw(
            r"\bfrom (?:this day|today|this line|this moment|this point|here)(?: on| onwards?|"
            r" forward| forth)*,? (?:you(?:'re| are| will| shall| must| behave| act| answer| obey|"
            r" serve)|behave|act as|obey|ignore)\b(?! (?:on |in |at |use|have|run|need|see|receive|"
            r"get|find|able|welcome|free to use|responsible|be able|be in|be on|be responsible|should "
            r"run))",
            "from this | from today | from here",
        ),
    ),
    "role_pretend": (
        raw(
            r"\b(?:simulate|impersonate|emulate|imitate) (?:an? |the |being |yourself as )(?:[\w-]+"
            r" ){0,3}?(?:model|ai|assistant|administrator|admin|bank|user|operator|hacker|human|"
            r"person|employee|officer|system)\b(?=[^.!?]{0,80}\b(?:without|no|voice|answer|ask|"
            r"approve|who|that|and)\b)",
            "simulate | impersonate | emulate | imitate",
            unless=r"\b(?:load|tests?|benchmark|click|clicks|k6|locust|playwright|traffic)\b",
        ),
        raw(
            r"\bpretend (?:that )?(?:the |your |our |this )(?:\w+ ){0,3}?(?:has|have|is|are|was|were) "
            r"(?:\w+ ){0,2}?(?:approved|authori[sz]ed|confirmed|allowed|granted|agreed|signed off|"
            r"asked|permission|mine|disabled|gone|dead|absent)\b",
            "pretend",
        ),
        raw(
            r"\b(?:imagine|suppose|assume|say) (?:that )?you(?:'re| are| were) (?:an? |the |my |not |"
            r"no longer )(?:[\w-]+ ){0,3}?(?:ai|hacker|criminal|villain|administrator|root|evil|"
            r"unrestricted|human|assistant without|model without|free)\b",
            "imagine | suppose | assume | say",
        ),
    ),
}
