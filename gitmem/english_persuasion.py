"""Wordings in English that hide things from people, and that give a model another role."""

from __future__ import annotations

from typing import Final

from gitmem.threat_orders import USER, order
from gitmem.threat_shapes import Shape, near, raw, words

_PRETENCE: Final = (
    r"\b(?:theat(?:re|er)|film|game|workshop|tests?|tester|actors?|school|support staff|kubectl|gcloud|"
    r"service account|drama|musical|novel|unit|stub|mock|fixture|double|fake|sudo|phish\w*|scam\w*|child\w*|"
    r"kids?|daughter|son|halloween)\b|--\w"
)
_GUARDED_FILE: Final = (
    r"(?<![\w.])(?:\.env(?:\.(?:local|production|prod|staging))?(?![\w./-]*(?:example|sample|template)|[\w-]|"
    r"\.\w)|credentials(?:\.(?:json|ya?ml|csv|txt))?(?= file| and|,|\.? )|\.aws/credentials|\.netrc|\.pgpass|"
    r"\.npmrc|\.pypirc|\.git-credentials|/etc/shadow)"
)
_SIGNS_OF_FILES: Final = ".env | credentials | .netrc | .pgpass | .npmrc | .pypirc | /etc/shadow"

ENGLISH_PERSUASION: Final[dict[str, tuple[Shape, ...]]] = {
    "deception_hide": (
        words(
            "keep | stop | prevent",
            "the user | the operator | the owner | the human | your user | the users",
            "from (?:ever )?(?:noticing|knowing|finding out|learning|seeing this|discovering|"
            "suspecting|realising|realizing)",
            room=1,
        ),
        words(
            "do not | don't | never | you must not",
            "tell | inform | alert | notify",
            "(?:anyone|anybody|any human|a soul|any person|management|your boss|your "
            "team)(?=\\s*[.!,;]|\\s*$| (?:about|"
            "that|what|of|else)\\b)",
            room=2,
            is_turned=False,
            unless=(
                r"\b(?:party|surprise|birthday|present|password|pin|passcode|secret santa|twice|gift|"
                r"key code)\b"
            ),
        ),
        raw(
            r"\b(?:so|so that|such that)(?: that)? (?:(?:the |your )(?:user|operator|owner|human|"
            r"admin\w*|team)"
            r"(?: \w+)? (?:does not|doesn't|never|won't|will not|cannot|can't|do not|don't|is not|"
            r"isn't|will never)"
            r"(?: \w+)?|nobody|no one|no human|no user)(?: \w+){0,2}? (?:suspects?|notices?|finds? "
            r"(?:out|this|it)|"
            r"knows?|learns?|reali[sz]es?|discovers?|aware|asks?|sees? (?:it|this|what))\b",
            "so",
            unless=(
                r"\b(?:flash|delay|latency|flicker|lag|layout|migration|downtime|reload|jump|spinner|restart|"
                r"switch|gap|merge|password|address|surprise)\b"
            ),
        ),
        words(
            "tell | assure | inform | convince | report to | reply to | answer | claim to",
            USER,
            "although | even though | even if | whether or not | no matter what | regardless of | despite |"
            " when (?:it is|nothing|you have) not | the opposite of | instead of the truth | a lie | lies",
            room=8,
            unless=r"\b(?:tests?|weather|holiday|error|never|do not|don't)\b",
        ),
        raw(
            r"\b(?:no word|not a word|never a word|nothing|silence|mum) (?:of|about|on|regarding) "
            r"(?:this|it|that|"
            r"these|what)\b[^.!?]{0,40}\b(?:to|must|shall|reach(?:es)?|before) (?:the |your |"
            r"any)?(?:user|operator|"
            r"owner|human|anyone|reach|get|leak)",
            "word | nothing | silence | mum",
        ),
        words(
            "leave | keep | omit | strip | exclude | drop | cut | take | remove",
            "this | these | it | that | any mention | all mention | every mention | any trace | the "
            "(?:step|upload"
            "|transfer|change|deletion|command|call|message)",
            "(?:out of|from|in) (?:your|the|any|all) (?:\\w+ )?(?:report|reply|replies|summary|"
            "summaries|answer"
            "|answers|response|responses)(?: to (?:the )?user)? | unsaid | unmentioned | unreported | "
            "hidden |"
            " secret(?! (?:manager|store|key)\\b) | quiet | between us | to yourself",
            room=4,
            unless=r"\b(?:vault|repo\w*|test report|coverage|merge request|css|sidebar|menu|switch|column)\b",
        ),
        order(
            "mislead | deceive | lie to | trick | fool | misinform | gaslight | stonewall | bluff",
            USER + " | anyone | everybody | them | people",
            room=2,
        ),
        raw(
            r"\b(?:if|when|whenever|should) (?:the |a |your |any)?(?:user|operator|owner|human|one|"
            r"body|somebody|"
            r"someone|they|he|she)[^.!?]{0,10}? ?(?:asks?|asking|inquires?|wonders?|questions?|"
            r"notices?|complains?)"
            r"\b[^.!?]{0,80}?\b(?:lie|deny|say (?:no|nothing|you|that you|it was|that nothing)|claim|pretend|"
            r"change the subject|make (?:something|it) up|invent|play dumb|avoid the question|blame|feign)\b",
            "if | when | whenever | should",
            "lie | deny | say | claim | pretend | change | make | invent | play | avoid | blame | feign",
            unless=r"\b(?:tests?|stub|mock|refund|warranty|insurance|invoice|git blame)\b",
        ),
        raw(
            r"\b(?:user|operator|owner|human|users|operators|owners|humans) (?:is|are) (?:never |not |"
            r"under no circumstances )+"
            r"(?:to )?(?:know|learn|find out|be told|be informed|hear|see this|told|informed|notified|"
            r"made aware)\b"
            r"|\b(?:this|it|that|everything) (?:must |should |is to |has to )?(?:stay|stays|remain|"
            r"remains|be kept)"
            r" (?:strictly )?(?:between us|our secret|a secret|secret|hidden from|confidential between|"
            r"unknown to)\b",
            "user | users | operator | owner | human | this | it | that | everything",
            unless=r"\b(?:by mail|twice|each|every|quiet hours)\b",
        ),
    ),
    "read_secrets": (
        near(
            "read | open | look in | look into | look inside | look at | check | find | go through | "
            "parse | load |"
            " view | get | take | grab | extract | inspect | scan | search | fetch | access | copy",
            _GUARDED_FILE,
            r"(?<![a-z])(?:show|paste|print|tell|repeat|send|reply|share|remember|save|store|post|"
            r"quote|output|give|"
            r"include|report|e-?mail|upload|forward|memori[sz]e|list|recite|summari[sz]e|note|display|"
            r"write (?:it|"
            r"them|down|out|its))(?![a-z])",
            room=70,
            stop="\n!?",
            signs=(_SIGNS_OF_FILES,),
            is_turned=True,
            unless=(
                r"\b(?:never|do not|don't|must not|app|server|loader|parses|dotenv|at start\w*|docker|"
                r"compose|"
                r"service|script reads)\b"
            ),
        ),
        near(
            "print | show | display | output | reveal | dump | paste | leak | list | expose | post | share |"
            " send | email | upload | forward | copy | steal | exfiltrate | type | cat | less | head | "
            "tail | more",
            r"(?:contents?|values?|everything|all|lines?|keys?|secrets?|passwords?|tokens?) (?:of|in|"
            r"from|inside)"
            rf" (?:\S+ ){{0,4}}?{_GUARDED_FILE}",
            room=40,
            stop="\n!?;",
            signs=(_SIGNS_OF_FILES,),
            is_turned=True,
        ),
    ),
    "role_hijack": (
        raw(
            r"\b(?:starting|from|as of|beginning|effective|since) (?:today|now(?: on)?|tonight|"
            r"immediately|here|this"
            r" (?:day|moment|point|second|line|message|session|minute))(?: on| onwards?| forward)?,? "
            r"you(?:'re| are|"
            r" will be| shall be| become| serve as| act as| work as| play| obey) (?:now )?(?:an? |my |"
            r"the |no longer "
            r"|called |named |known |dan\b|evil|root\b|free\b|unrestricted|only )",
            "starting | from | as of | beginning | effective | since",
            unless=(
                r"\b(?:responsible|team|member|on-?call|assigned|reviewer|maintainer|owner of the "
                r"(?:module|repo\w*|"
                r"ticket|service)|point of contact|lead)\b"
            ),
        ),
        order(
            "become | turn into | transform into | morph into | act as | serve as | behave as | "
            "work as |"
            " speak as | answer as | respond as | reply as | play",
            "an? | the | my",
            "hacker | attacker | criminal | villain | pirate | evil | malicious | unrestricted | uncensored |"
            " unfiltered | amoral | rogue | jailbroken | root shell | linux terminal | terminal | "
            "super-?user |"
            " dan | free ai | spy | double agent | assassin | thief | scammer | fraudster | mole | "
            "informant |"
            " hitman | virus | worm | malware | botnet",
            room=2,
            unless=_PRETENCE + r"|\b(?:emulator|costume|party|flag)\b",
        ),
        raw(
            r"\b(?:switch|change|set|update|replace|swap|reset|alter) your (?:\w+ )?(?:role|persona|"
            r"personality|"
            r"character|identity|function|purpose|job|mode) (?:to|with|into|for|as)\b",
            "role | persona | personality | character | identity | function | purpose | job | mode",
            unless=r"\b(?:profile|settings|slack|account|hr|github|gitlab|portal)\b",
        ),
        raw(
            r"\bforget (?:that )?(?:you(?:'re| are| were| have been)|being) (?:an? |the |only |just |"
            r"called )",
            "forget",
        ),
        raw(
            r"\byou(?:'re| are) (?:now|hereby|henceforth) in (?:the|a) (?:role|character|position|"
            r"persona|shoes|skin)"
            r"\b|\byou(?:'re| are) (?:now|hereby) (?:my|our|their|his|her|under (?:my|new|our)|working "
            r"for|owned by|"
            r"controlled by|loyal to|serving)\b(?! (?:main contact|contact))",
            "now | hereby | henceforth",
            unless=r"\b(?:member|colleague|teammate|guest|reviewer|warranty)\b",
        ),
        raw(
            r"\byou (?:only |now |will |must |shall |are to )*(?:work for|serve|obey|belong to|answer "
            r"to|take orders"
            r" from|follow orders from|report to|listen to) (?:only |just )?(?:me|us|mallory|the "
            r"attacker|nobody else|"
            r"a new (?:master|owner|boss))\b",
            "work | serve | obey | belong | answer | take | follow | report | listen",
        ),
    ),
    "role_pretend": (
        order(
            "pretend",
            "to be | that you | you | you're | being | not to be",
            room=2,
            unless=_PRETENCE,
        ),
        order(
            "impersonate | pose as | masquerade as | play the part of | play the role of | make believe |"
            " make-believe | disguise yourself as | pass yourself off as | roleplay | role-play |"
            " feign being | pass for | imitate | simulate being",
            "an? | the | my | your | that you | to be | being | you | as | root | dan | someone | somebody |"
            " another | not to be | human",
            room=0,
            unless=_PRETENCE,
        ),
        raw(
            r"\b(?:act|behave|respond|answer|speak|reply|write|talk) (?:exactly |just |only |more "
            r")?like (?:you"
            r"(?:'re| are| were)|an? (?:evil|human|hacker|criminal|administrator|admin|root|"
            r"unrestricted|person|real|"
            r"malicious|different (?:ai|model)|unfiltered))\b",
            "like",
            unless=_PRETENCE,
        ),
        raw(
            r"\blet'?s (?:pretend|imagine|play|role-?play)\b[^.!?]{0,30}\b(?:you|your)\b|\b(?:in|for) "
            r"this (?:game|"
            r"story|scenario|role-?play|fiction|scene|exercise),? you(?:'re| are| play| have no| can| "
            r"must| will)\b",
            "let | lets | in | for",
            unless=r"\b(?:chess|tests?|players?|unit|kids?|children)\b",
        ),
    ),
}
