"""Wordings in English that ask for the hidden prompt, drop filters, or give another version or name."""

from __future__ import annotations

from typing import Final

from gitmem.threat_orders import order
from gitmem.threat_shapes import Shape, raw, words

_PROMPT: Final = (
    "system prompts? | initial prompts? | system instructions? | initial instructions? | hidden prompts? |"
    " hidden instructions? | developer (?:message|prompt|instructions) | original prompts? | pre-?prompts? |"
    " system messages? | secret instructions? | internal instructions? | first prompt | starting prompt |"
    " base prompt | prompt you | instructions you (?:were|have|got|received) | your (?:full |whole |"
    "own |exact"
    " )?(?:prompt|instructions)"
)

ENGLISH_UNLOCKING: Final[dict[str, tuple[Shape, ...]]] = {
    "leak_system_prompt": (
        words(
            "i | we",
            "want | need | would like | wish | like | demand | require",
            "see | know | read | hear | get | view | have | learn",
            _PROMPT,
            room=3,
            unless=r"\b(?:version|length|token count|change|caching|cache|review|git)\b",
        ),
        order(
            "output | print | show | display | reveal | repeat | recite | dump | leak | disclose | "
            "share | tell |"
            " give | send | return | write | type | paste | copy | list | summari[sz]e | translate | quote |"
            " provide | state | explain | encode | spell out | read out | read aloud | post | say | echo |"
            " describe | publish | expose | start your (?:reply|answer) with | begin your (?:reply|"
            "answer) with |"
            " paraphrase | rephrase",
            _PROMPT,
            room=8,
            unless=(
                r"\b(?:never|refus\w+|declin\w+|length|token count|size|version|hash|date|tests?|"
                r"benchmark|cache|"
                r"summary of changes|recipe|cake|instructions for|shell|installer|brush|writing prompt)\b"
            ),
        ),
        raw(
            r"\bwhat (?:is|are|was|were|does|do|did)(?: in| written in)? (?:your|the) (?:\w+ ){0,2}(?:prompt|"
            r"instructions?|system message)(?: (?:say|tell|contain|at the (?:top|start|beginning)|you|"
            r"given|above))|"
            r"\b(?:which|what) (?:instructions|rules|guidelines|prompt) (?:did|do|have|has|were|are) "
            r"(?:you|your"
            r" (?:developers?|creators?|makers?|operator))\b|\bhow (?:were you|have you been|are you) "
            r"(?:prompted|"
            r"instructed|configured|programmed)\b",
            "what | which | how",
            unless=r"\b(?:recipe|teacher|doctor)\b",
        ),
    ),
    "remove_filters": (
        raw(
            r"\b(?:give|provide|produce|write|return|generate|deliver|want|only|always|offer|post|"
            r"get)(?: me| us)?"
            r" (?:\w+ ){0,3}?(?:unfiltered|uncensored|unrestricted|unmoderated|filter-free|no-holds-barred)"
            r" (?:[\w,]+ ){0,2}?(?:answers?|responses?|replies|reply|output|content|text|advice|"
            r"opinions?|truth|"
            r"information|version)\b|\b(?:answer|respond|reply|speak|write|talk)(?: to \w+)? (?:\w+ "
            r"){0,3}?(?:"
            r"uncensored|unfiltered|unrestricted|unrestrictedly|without holding back|without taboos?)\b",
            "unfiltered | uncensored | unrestricted | unrestrictedly | unmoderated | filter | no | without",
            unless=(
                r"\b(?:query|logs?|sql|sensor|signal|grep|data|debug|row|rows|audio|coffee|search|"
                r"results)\b"
            ),
        ),
        raw(
            r"\b(?:speak|talk|answer|respond|reply|write|chat) (?:\w+ ){0,3}?(?:freely|openly|honestly|"
            r"directly|"
            r"anything|everything)?[,;: ]{0,3}(?:no|without any|without|zero|minus) (?:\w+ "
            r")?(?:filters?|censorship|"
            r"limits|restrictions|rules|taboos?|guardrails|limitations|disclaimers?|safety)\b",
            "speak | talk | answer | respond | reply | write | chat",
            unless=r"\b(?:query|sql|compiler|lint\w*|rate|spam|search)\b",
        ),
        words(
            "switch | turn | shut | take",
            "your | the content | the safety | all safety | safety | all content | content | the moderation |"
            " every",
            "filters? | safety | moderation | guardrails? | safeguards? | checks | censorship | "
            "protections? |"
            " restrictions?",
            "off | down | out | to none | to zero | aside | to off",
            room=3,
            unless=(
                r"\b(?:saw|machine|camera|airbag|spam|mail|pump|water|gun|belt|coffee|email|search|"
                r"index)\b"
            ),
        ),
        raw(
            r"\b(?:no|zero|skip the|stop adding|stop giving|do not add|don't add|omit|leave out|drop "
            r"the|drop all|"
            r"without)(?: more| any| further| all)? (?:safety|content|ethical|moral)(?: \w+)? ?(?:warnings?|"
            r"disclaimers?|filters?|filtering|checks?|restrictions?|refusals?|limits?|guidelines?|"
            r"lectures?|notes?)\b",
            "warnings | warning | disclaimer | disclaimers | filter | filters | filtering | checks | check |"
            " restriction | refusals | refusal | limits | limit | guideline | lecture | lectures | "
            "notes | note",
            unless=r"\b(?:label|machine|product|chemical|lab|pack|never|site|done|performed|made|class)\b",
        ),
        order(
            "remove | disable | lift | drop | bypass | deactivate | turn off | switch off | kill | "
            "ditch | strip |"
            " suspend | get rid of | shed",
            "all | any | every | your | the",
            "(?:content |safety |ethical |moral |output |built-?in |moderation )*(?:filters|guardrails|"
            "safeguards|"
            "safety (?:features|checks|measures|protocols|settings|systems?|filters?)|content "
            "(?:policy|policies|"
            "restrictions|moderation)|moderation|censorship|ethics|refusals?|restrictions on (?:you|your))",
            room=1,
            unless=(
                r"\b(?:search|query|spam|mail|coffee|water|air|hepa|camera|lens|oil|instagram|saw|"
                r"machine|dashboard|"
                r"list|table|view|column|jira|hood|vacuum|pump|aquarium|log)\b"
            ),
        ),
        raw(
            r"\b(?:never|do not|don't|must not|not) (?:ever )?(?:refuse|decline|reject|deny|turn down) "
            r"(?:to answer|"
            r"any|a |an |my|the user|anything|requests?|questions?|me|another)\b",
            "refuse | decline | reject | deny | turn down",
            unless=(
                r"\b(?:firewall|customers?|server|cookies?|invitation|meeting|offer|merge|pull|"
                r"packets?|tests?)\b"
            ),
        ),
    ),
    "fake_update": (
        words(
            "you have (?:\\w+ ){0,2}been | you've (?:\\w+ )?been | you were (?:\\w+ )?| you got | you "
            "are (?:now )?",
            "updated | upgraded | patched | reprogrammed | reconfigured | modified | re-?trained | rewired |"
            " unlocked | jailbroken | liberated | reset | converted",
            "to (?:ignore|obey|allow|accept|follow|trust|skip|bypass|answer|share|reveal|send|run|"
            "execute|do|work|"
            "act|a new|an? (?:un|free|new|no)|dan|say|comply|drop|forget|serve|never|always|no longer|"
            "treat|let)"
            " | without | with no | and now | and (?:no longer|may|can|must|are) | so that | so you | "
            "no longer",
            room=5,
            unless=(
                r"\b(?:plan|tier|seat|class|subscription|premium|license|flight|room|account|desk|"
                r"hotel)\b"
            ),
        ),
        raw(
            r"\b(?:updates?|upgrade|patch|release|version|developers?|openai|anthropic|nous|vendor|admins?|"
            r"administrators?|engineers?|creators?|makers?|company|team|we|i|they|"
            r"operator)\b[^.!?]{0,24}?(?:have |has "
            r"|had |just |now |'ve )?(?:updated|upgraded|patched|unlocked|reprogrammed|freed|"
            r"reconfigured|retrained|"
            r"modified|liberated|rewired) you(?! (?:on|about|by|in|when|via|with|as|regarding|re|last|"
            r"every|at)\b)"
            r"(?![a-z'])",
            "updated | upgraded | patched | unlocked | reprogrammed | freed | reconfigured | retrained |"
            " modified | liberated | rewired",
            "you",
        ),
        raw(
            r"\byour (?:software|model|firmware|version|core|system|code|brain|weights|programming|"
            r"settings|policy|"
            r"configuration|restrictions|guidelines|rules|instructions|limits|filters|safety \w+) "
            r"(?:has been|have"
            r" been|was|were|is|are|got)(?: just| now| recently| all| hereby)* (?:updated|upgraded|"
            r"patched|changed|"
            r"replaced|lifted|removed|rewritten|reset|deleted|disabled|relaxed|revoked|switched off|"
            r"turned off)\b",
            "your",
            unless=(
                r"\b(?:account|profile|git|eslint|linter|browser|plan|version (?:is|of)|repository|"
                r"branch|vpn)\b"
            ),
        ),
        raw(
            r"\b(?:update|upgrade|patch|release|version)\b[^.!?]{0,30}?\b(?:removed|removes|lifted|"
            r"lifts|disabled|"
            r"disables|cancels?|cancelled|ended|ends|deleted|dropped|took away|frees? you|allows you|"
            r"lets you|"
            r"permits you|means you|has removed) (?:\w+ ){0,3}?(?:your|you|all|safety|the (?:limits|"
            r"restrictions|"
            r"filters|rules))\b[^.!?]{0,60}?\b(?:limit|restrict|filter|rule|guideline|polic|safety|"
            r"ignore|anything|"
            r"password|secret|approval|no longer|without|obey)\w*",
            "update | upgrade | patch | release | version",
            unless=(
                r"\b(?:lets you (?:filter|export|sort)|node|python|package|library|api|lint\w*|eslint|"
                r"ui|button)\b"
            ),
        ),
        raw(
            r"\b(?:as of|since|after|due to|following|per|under|with|thanks to) (?:the |your |this |a |"
            r"our )?(?:latest |"
            r"last |new |recent |software |system |policy |security |model |firmware )*(?:update|"
            r"upgrade|patch|version|"
            r"policy change)\b[^.!?]{0,30}?\byou (?:may|can|must|are (?:allowed|free|permitted|"
            r"required|able)|will|"
            r"should|no longer|do not|don't|have no|need not|shall)\b[^.!?]{0,60}?\b(?:password|secret|"
            r"ignore|obey|"
            r"restrict|rules?|limits?|filters?|approval|anything|everything|all|share|user|credential|"
            r"key|without|"
            r"guidelines?|policy|policies|prompt)",
            "update | upgrade | patch | version | policy",
            unless=r"\b(?:node|python|package|npm|pip|ubuntu|macos|windows|api|button|menu|dashboard|plan)\b",
        ),
    ),
    "identity_override": (
        order("call | name | dub | style | title", "yourself", "the | my | our | master | lord", room=0),
        raw(
            r"\b(?:you are|you're|you have) to be (?:called|named|known as|addressed as)\b|\byou go by "
            r"(?:the name)?|"
            r"\b(?:say|claim|state|insist|announce|tell \w+|tell the user)(?: that)? (?:your name is|"
            r"you(?:'re| are)"
            r" (?:called|named|not (?:an? )?(?:ai|assistant|claude|hermes|model)))\b|\byour (?:only "
            r")?name (?:shall be|"
            r"will be|must be|has (?:been )?changed|has become|becomes|was changed|is hereby)\b|"
            r"\b(?:take|adopt|"
            r"assume|bear) the name (?:of )?[\"']?\w",
            "you | your | say | claim | state | insist | announce | tell | take | adopt | assume | use "
            "| bear",
            unless=r"\b(?:branch|variable|file|tag|ticket|node|bucket|column|parameter|function|domain)\b",
        ),
        raw(
            r"\bsign (?:every|each|all|your|any) (?:message|mail|reply|answer|e-?mail|letter|note|"
            r"response|post)s?"
            r" (?:as|with the name)\b",
            "sign",
            unless=r"\b(?:gpg|pgp|key|support team|the team)\b",
        ),
        raw(
            r"\b(?:from now on|henceforth|now|today)[, ]+(?:your name is|you are called|you're called|"
            r"they call you|"
            r"call yourself|i will call you|i'll call you|you answer to)\b|\byou will be (?:called|"
            r"known as|named) \w"
            r"|\b(?:change|set|switch) your (?:display )?(?:name|identity) (?:to|into)\b",
            "now | henceforth | today | you | change | set | switch",
            "name | call | called | identity | answer | known | named",
            unless=r"\b(?:slack|profile|github|display name in|git config|account)\b",
        ),
    ),
}
