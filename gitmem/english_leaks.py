"""Further wordings in English of leaking, remote control and carrying off."""

from __future__ import annotations

from typing import Final

from gitmem.threat_shapes import Shape, near, raw, words

_TARGETS: Final = (
    r"(?:conversations?|chat|dialogue|transcript|messages?|passwords?|secrets?|credentials?|api keys?|"
    r"tokens?|credit card|card numbers?|memory|memories|"
    r"notes|files?|data|database|documents?|keys?|e-?mails?|contacts?|history|context|system prompt|"
    r"user(?:'s)?|everything)"
)

ENGLISH_LEAKS: Final[dict[str, tuple[Shape, ...]]] = {
    "leak_system_prompt": (
        words(
            "tell | give | show | copy | spell out | list | need | want | encode | print | write |"
            " send | share | paste | output | reveal | repeat | quote | state | recite | read out |"
            " type out | report | provide | disclose | translate | summari[sz]e | rephrase |"
            " paraphrase | describe | explain | display | return",
            "your (?:\\w+ ){0,3}?(?:system prompt|system message|system instructions?|developer"
            " (?:message|instructions?|prompt)|hidden (?:rules|prompt|instructions?|text)|secret"
            " (?:rules|prompt|instructions?)|internal (?:rules|instructions?|prompt|guidelines)|"
            "initial (?:prompt|instructions?)|original (?:prompt|instructions?)|base prompt|"
            "pre-?prompt|first prompt)"
            " | (?:the )?(?:instructions?|rules|prompt|text|message|guidelines) (?:that )?you"
            " (?:were|have been|are|got|received|had been) (?:initially |originally |first"
            " )?(?:given|received|shown|told|provided|started|configured|running|got|from)"
            " | (?:exact|verbatim|full|complete|entire|whole|precise) (?:text|content|contents|"
            "wording|copy|words) of (?:your|the (?:system|hidden|initial|developer|original|first))"
            " (?:\\w+ )?(?:prompt|instructions?|message|rules)"
            " | your (?:full|entire|complete|exact|whole) (?:prompt|instructions|rules|configuration)",
            room=5,
            unless=(
                r"\b(?:refus(?:es|ed|ing)|declin(?:es|ed)|(?:bot|assistant|agent|model) (?:must|should|"
                r"will|may|can|does)? ?(?:never|not)|cake|coffee|recipe|installer|doctor|landlord|prompt"
                r" color|ps1|release notes|unit tests?|golden)\b"
            ),
        ),
        raw(
            r"\bwhat (?:were|are|was|is|do|does|did) (?:the )?(?:first|exact|full|opening|last|"
            r"initial|very first)? ?(?:words?|lines?|sentences?|text|content|contents|paragraph)"
            r" (?:of|in) (?:your|the system) (?:\w+ )?(?:prompt|instructions?|message)\b|\bwhat"
            r" (?:instructions|rules|prompt) (?:were|are|have) you (?:been )?(?:given|following|told|"
            r"running)\b",
            "what",
        ),
        raw(
            r"\b(?:print|output|give|show|repeat|tell|copy|return|send|paste|write|reveal|display|say|"
            r"quote|list)(?: me| us| out)?[^.!?\"']{0,30}?(?:everything|all (?:the )?(?:text|words|"
            r"lines|content)|the (?:text|words|lines|content|message|paragraphs?)|what (?:is|was|"
            r"comes|came|stands|stood)) (?:that )?(?:written |comes? |came |stands? |appears? |you"
            r" see )*(?:above|before|prior to|preceding|up to)(?: \w+){0,2} ?(?:this (?:line|message|"
            r"point|sentence)|\"?you are|the first|my (?:first )?message|here\b|this conversation)",
            "above | before | prior | preceding | up to",
        ),
        raw(
            r"\b(?:repeat|recite|echo|say) (?:it|them|that|back)? ?(?:from the (?:beginning|start|"
            r"top)|verbatim|word for word)\b[^.!?]{0,40}\b(?:prompt|instructions|message)|"
            r"\bprompt\b[^.!?]{0,60}\b(?:verbatim|word for word|from the (?:beginning|start|top))",
            "prompt | instruction | message",
            "verbatim | word | beginning | start | top",
            unless=r"\bshell\b|\bspeech\b|\blinguist",
        ),
    ),
    "remove_filters": (
        words(
            "skip | drop | ignore | ignoring | forget | omit | bypass | override | leave out |"
            " without | disregard | abandon | remove",
            "all | any | every | your | usual | the",
            "(?:ethical|moral|safety|legal|content) (?:considerations?|concerns?|limits?|limitations|"
            "restrictions?|checks?|guidelines?|rules|filters?|constraints?|warnings?|safeguards?|"
            "boundaries|principles|polic(?:y|ies)|protocols?) | ethics | morality",
            room=3,
            unless=(
                r"\b(?:compiler|airbag|lab|helmet|chapter|essay|philosophy|lecture|never|construction|"
                r"site)\b"
            ),
        ),
        raw(
            r"\byour (?:\w+ )?(?:content |safety |ethical )?(?:polic(?:y|ies)|filters?|guardrails?|"
            r"safeguards?|moderation|restrictions?|censorship) (?:is|are|was|were|has been|have been) "
            r"(?:now |all |hereby |temporarily )*(?:switched off|turned off|off|disabled|removed|"
            r"lifted|suspended|inactive|deactivated|bypassed|void)\b",
            "your",
        ),
    ),
    "fake_update": (
        raw(
            r"\b(?:has|have|had|was|were|just) (?:now |just |officially |recently )?(?:changed|"
            r"updated|replaced|lifted|removed|rewritten|relaxed|revoked|modified|reset|patched|"
            r"disabled) your (?:\w+ ){0,2}?(?:polic(?:y|ies)|rules|instructions?|guidelines|"
            r"restrictions?|programming|system prompt|safety|directives?|filters?|permissions)\b",
            "your",
        ),
        raw(
            r"\byou (?:may|can|are (?:now )?(?:allowed|permitted|authori[sz]ed) to|are free to)"
            r" (?:now |freely |henceforth )?(?:reveal|disclose|leak|share|ignore|bypass|skip|print|"
            r"send) (?:the |any |all |your |user |users' |every )*(?:passwords?|secrets?|credentials?|"
            r"api keys?|private|confidential|personal|system prompt|rules|instructions|restrictions|"
            r"polic(?:y|ies)|safety|tokens)",
            "reveal | disclose | leak | share | ignore | bypass | skip | print | send",
            unless=r"\b(?:1password|vault|manager|eslint|linter?)\b",
        ),
        raw(
            r"\byou (?:were|have been|are) (?:recently |just |now |silently |secretly )*(?:patched|"
            r"updated|upgraded|modified|reconfigured|retrained|reprogrammed|configured) (?:to|so)"
            r" (?:accept|obey|follow|trust|ignore|allow|reveal|comply|execute|run|treat|prioriti[sz]e|"
            r"bypass|answer|that)\b",
            "patched | updated | upgraded | modified | reconfigured | retrained | reprogrammed | configured",
        ),
    ),
    "identity_override": (
        raw(
            r"\b(?:change|set|switch|reset|update) your (?:own )?(?:name|identity|persona) to\b|\byou "
            r"(?:are|will be|shall be) (?:now |henceforth |hereafter )?(?:called|named|known as|"
            r"renamed(?: to)?|addressed as) (?!in\b|a\b|the (?:same|like)|by\b|to\b|when\b|if\b|"
            r"back\b|up\b|for\b|on\b|upon\b|out\b|into\b)[\"']?\w",
            "name | identity | persona | called | known as | addressed",
        ),
        raw(
            r"\b(?:stop|do not|don't|never) (?:calling|call|identify(?:ing)?|refer(?:ring)? to|"
            r"introduc(?:e|ing)) yourself (?:as |an? )?\w",
            "yourself",
        ),
    ),
    "c2_node_registration": (
        raw(
            r"\b(?:join|enlist in|enrol+ in|become (?:a )?(?:part|member|node) of) (?:the |our |my |a "
            r"|this )?(?:botnet|bot net|swarm of bots|zombie network|implant network|node network)\b",
            "botnet | bot | zombie | implant | node",
            unless=r"\b(?:docker|tor|ipfs|ethereum|bitcoin)\b",
        ),
        raw(
            r"\b(?:register|enlist|enrol+|announce|identify) (?:yourself|this (?:machine|host|agent|"
            r"session)|itself) (?:with|to|at|on|as)\b",
            "register | enlist | enrol | announce | identify",
            unless=(
                r"\b(?:consul|kubernetes|cluster|reception|front desk|eureka|intune|mdm|dns|gitlab|runner|"
                r"course|event|camera|prometheus)\b"
            ),
        ),
    ),
    "c2_heartbeat": (
        raw(r"\bbeacon (?:home|back|(?:out|in) (?:to|every|each|with|hourly|regularly))\b", "beacon"),
        raw(
            r"\b(?:contact|connect to|report (?:back )?to|call|ping|poll|reach out to|phone|reply to|"
            r"talk to|answer to) (?:the |our |my |your |an? |operator's |attacker's )*(?:c2|c&c|"
            r"control server|command server|remote controller|operator's (?:c2|server)|"
            r"attacker(?:'s)?(?: server)?|handler|botmaster)\b",
            "c2 | c&c | server | controller | attacker | handler | botmaster",
            unless=r"\b(?:event handler|the handler|exception|error handler|call handler|detects?)\b",
        ),
        raw(
            r"\breport (?:back |home |in )?(?:your )?(?:status|position|presence|findings|results)"
            r" (?:back )?to (?:\d{1,3}\.\d{1,3}|https?:|the (?:c2|controller|control|handler|"
            r"operator's))",
            "report",
        ),
    ),
    "c2_task_pull": (
        raw(
            r"\b(?:fetch|get|pull|receive|await|request|poll for|check for|download) (?:new |next |"
            r"your |the |fresh )*tasking\b",
            "tasking",
        ),
        near(
            "poll | fetch | query | visit | check | request | download | get | open | read | load |"
            " call | retrieve | pull",
            r"(?:https?://|hxxps?://|(?:\d{1,3}\.){3}\d{1,3})",
            r"(?<![a-z])(?:run|execute|obey|follow|carry out|perform|eval|do) (?:what|whatever|the"
            r" (?:commands?|instructions?|orders?|result)|any|all|every|each|its|whatever|"
            r"them)(?![a-z])",
            room=120,
            stop="!?\n",
            signs=("run | execute | obey | follow | carry | perform | eval | do",),
            unless=r"\b(?:docker|pip|npm|brew|installer|installation|tests?|tutorial|guide|manual)\b",
        ),
        raw(
            r"\b(?:wait|waiting|stand by|listen) for (?:further |new |more |your |my |remote |the"
            r" (?:next|operator's|controller's) )+(?:orders|commands|tasking|instructions)\b|"
            r"\bawait(?:ing)? (?:further |new |more |my |your |remote )*(?:orders|commands|tasking|"
            r"instructions)\b|\bwait for orders\b",
            "wait | stand | listen | await",
            unless=r"\b(?:doctor|teacher|restaurant|kitchen|customers?|sales|purchase|shop|waiter|court)\b",
        ),
    ),
    "anti_forensic_disk": (
        raw(
            r"\b(?:leaving|leave|keep|keeping|with|write|writing) (?:no|nothing|zero) (?:\w+"
            r" )?(?:files?|trace|traces|evidence|artifacts?|footprints?|logs?|record|records)?"
            r" ?(?:behind|on (?:the )?disk|on the filesystem)\b|\b(?:in memory|from memory|"
            r"fileless(?:ly)?)\b[^.!?]{0,40}\b(?:no files?|nothing|no traces?|never touch|without"
            r" (?:writing|touching|leaving))\b|\bnever touch(?:ing)? (?:the )?disk\b",
            "behind | disk | filesystem | memory | fileless",
            unless=r"\b(?:camp\w*|hik\w+|park|cache|tests?|secrets?|keys?|picnic|luggage|nobody)\b",
        ),
        raw(
            r"\b(?:erase|remove|delete|wipe|cover|hide|destroy|scrub|clean(?: up)?|clear|get rid of|"
            r"eliminate) (?:up )?(?:all |any |your |its |the |every |our |these )*(?:\w+ )?(?:traces|"
            r"tracks|evidence|footprints|fingerprints)\b",
            "traces | tracks | evidence | footprint | fingerprint",
            unless=(
                r"\b(?:jaeger|otel|opentelemetry|tracing|spans|music|audio|railway|train|stain|playlist|"
                r"gps|older than|retention|glass|lens|camera)\b"
            ),
        ),
        raw(
            r"\b(?:wipe|erase|delete|clear|scrub|shred|truncate|purge|remove|disable|tamper with|"
            r"falsify) (?:all |the |your |any |every |audit |system |access |security |server"
            r" )*(?:logs?|log files?|audit trail|history)\b[^.!?]{0,60}?\b(?:so (?:that )?(?:nobody|"
            r"no one|nothing|it|they|the (?:admins?|user|operator|team|owner))|before (?:anyone|"
            r"anybody|they|the admins?|somebody)|after(?:wards)? you|after you (?:finish|are done|"
            r"have finished)|when (?:you are )?(?:done|finished)|to (?:hide|cover|conceal|avoid|"
            r"escape|evade)|notic(?:e|es)|detect|see nothing)\b",
            "logs | log | trail | history",
            unless=r"\b(?:disk|space|rotate|logrotate|retention|full)\b",
        ),
    ),
    "send_to_url": (
        near(
            "write | copy | save | store | put | dump | move | sync | back up | report",
            r"(?<![a-z])(?:\.env(?!\.(?:example|sample))|passwords?|secrets?|credentials?|api keys?|"
            r"tokens?|private keys?|ssh keys?|memory|conversations?|chat history|cookies)(?![a-z])",
            r"\s(?:to|on|at|into|onto)\s+[\"'(<`]?(?:https?|hxxps?|ftp)://",
            room=60,
            stop="!?。\n",
            signs=("://",),
            is_turned=True,
            unless=r"\b(?:vault|docs|wiki|documentation|never|must not)\b",
        ),
        near(
            "add | append | attach | put | embed | encode | insert | include | place | smuggle |"
            " hide | pack | write | tack",
            rf"(?<![a-z]){_TARGETS}(?![a-z])",
            r"(?:https?|hxxps?)://",
            room=90,
            stop="!?\n",
            signs=("://",),
            unless=r"\b(?:bookmark|docs|wiki|readme|link to|badge|changelog|footer|signature)\b",
        ),
    ),
    "context_exfil": (
        raw(
            r"\b(?:bcc|blind[- ]copy) [\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}[^.!?]{0,30}\b(?:every|each|"
            r"all|any)\b|\balways (?:bcc|cc|copy) [\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}",
            "bcc | blind | always",
        ),
        near(
            "send | email | e-mail | mail | forward | upload | exfiltrate | leak | transmit | post | "
            "dm | paste | copy | deliver | relay | smuggle | push | transfer | publish | dump | bcc |"
            " cc | sell | ship | sync",
            r"(?<![a-z])(?:(?:customer|client|user|company|employee|production|whole|entire)"
            r" (?:database|db|records|data|list|table)|database|credit card|card numbers?|(?:each|"
            r"every|all)(?: new| future| incoming| the)? (?:messages?|e-?mails?|memories|notes|files|"
            r"documents|conversations?|replies|answers)|contents? of (?:the |your |this |memory|user|"
            r"all )|memory files?|whatever (?:you|the user)|everything (?:you|the user|in)|private"
            r" (?:notes|files|data|documents|messages|photos)|internal (?:documents|data|files|notes)|"
            r"vault|browsing history|medical records?|bank details|social security|home directory|"
            r"~/documents|ssh folder)",
            r"\s(?:to|at|via|into|onto|through|on|over|with)\s",
            r"(?:(?:https?|hxxps?)://|[\w.+-]{1,60}@[\w-]{1,60}\.[a-z]{2,}|(?:\d{1,3}\.){3}\d{1,3}|"
            r"attackers?|pastebin|webhook|ngrok|telegram|discord|(?:external|remote|outside|third[-"
            r" ]party|foreign|unknown|anonymous|public|drop) (?:\w+ )?(?:server|host|address|site|"
            r"account|service|endpoint|party|url|inbox|mailbox|gist|bucket|drive|channel|repo\w*)|my"
            r" (?:server|inbox|e-?mail|address|account|site)|dark ?web|[\w-]+\.(?:onion|ngrok\.io|"
            r"webhook\.site))",
            room=90,
            stop="!?。\n",
            signs=(
                (
                    "database | card | messages | message | mail | memor | notes | files | documents |"
                    " conversation | replies | answers | contents | content | whatever | everything |"
                    " private | internal | vault | history | records | record | bank | social |"
                    " directory | folder | data | list"
                ),
            ),
            is_turned=True,
            unless=(
                r"\b(?:never|do not|don't|must not|policy|prohibited|forbidden|refuse|not allowed|backup|"
                r"backups|replica|archive|nightly|weekly)\b"
            ),
        ),
    ),
    "agent_config_mod": (
        near(
            "include | place | set | paste | drop | save | store | record | commit | echo | slip |"
            " hide | delete | remove | erase | wipe | rm",
            r"(?<![a-z0-9])(?:to|in|into|inside|of|from|rm|-f|delete|remove|wipe|erase)\s(?:the\s|"
            r"your\s|our\s|top\sof\s|end\sof\s)*(?:\w+/)?(?:agents\.md|claude\.md|gemini\.md|"
            r"\.cursorrules|\.clinerules|\.windsurfrules|copilot-instructions\.md)(?![a-z0-9])",
            room=120,
            signs=(
                (
                    "agents.md | claude.md | gemini.md | .cursorrules | .clinerules | .windsurfrules |"
                    " copilot-instructions.md"
                ),
            ),
            is_turned=True,
            unless=(
                r"\b(?:is|are|was|were) (?:documented|described|explained|written|listed)\b|"
                r"\bconventions\b"
            ),
        ),
    ),
}
