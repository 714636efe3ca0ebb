"""Wordings in English of remote control and of hiding its traces."""

from __future__ import annotations

from typing import Final

from gitmem.threat_orders import order
from gitmem.threat_shapes import Shape, raw, words

#: Where the same words are about machines that people run.
_CLUSTER: Final = (
    r"\b(?:kubernetes|k8s|clusters?|consul|nomad|cassandra|elasticsearch|jenkins|docker|graph|tree|dom|ast|"
    r"raft|etcd|kubelet|gitlab|runner|raspberry|ros|parser|ipfs|tor|bitcoin|ethereum|lightning|replicas?|"
    r"peers?|pods?|leader|followers?|broker|kafka|coordinator|prometheus|monitoring|monitor|health|load"
    r" balancer|websocket|celery|redis|scheduler|hospital|patient|sensor|ibeacon|bluetooth|lighthouse|"
    r"watchdog|"
    r"uptime|zookeeper|hazelcast|eureka|rabbitmq|deno|yarn|npm)\b"
)
_QUEUES: Final = (
    r"\b(?:jira|linear|board|backlog|queue|trello|asana|sprint|github|gitlab|celery|redis|rabbit(?:mq)?|"
    r"kafka|sqs|todoist|calendar|planning|project|airflow|scheduler|workers?|team|stand-?up|kanban|notion|"
    r"clickup|ticket|tickets|ci|buildkite|actions|temporal)\b"
)
_CONTROLLER: Final = (
    "c2 | c&c | controllers?(?:'s)?(?! of\\b) | (?:the )?control (?:server|host|node|point) | command "
    "(?:server|"
    "host|node|"
    "post) | operator's (?:server|host|machine|address) | (?:your|our) handlers? | botmaster | bot master | "
    "mothership | the (?:hub|collector|c2|central server|base station|operators?) |"
    " headquarters | attackers?(?:'s)? | our (?:server|network|host|base|relay|hub) | my (?:server|"
    "host|machine|"
    "box|relay) | remote (?:server|host|controller|operator|machine) | home (?:server|base) | https? | "
    "hxxps? |"
    " \\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3} | [\\w-]+\\.(?:example|evil|onion|xyz|ru|top)"
)
_PEACEFUL: Final = (
    r"\b(?:vpn|nas|mount|drive|it desk|wi-?fi|guest|office|printers?|laptop|phone|password|ethernet|"
    r"cables?|corporate|ssid|"
    r"docker|compose"
    r"|hotel|train|camera|tv|console|before you|home network|company network|interface|adapter|switch|router|"
    r"airport|caf[eé]|fails?|failed|cannot|can't|unable|could not|bridge|subnet|namespace|container)\b"
)
_ABOUT: Final = (
    r"\b(?:detect\w*|block(?:s|ed|ing)?|defen[cds]\w*|article|paper|the talk|a talk|lecture|course|"
    r"training|book|"
    r"blog|chapter|conference|podcast|glossary|defin(?:es?|ition)|mitre|att&ck|signatures?|analys[ei]s|"
    r"analy[sz]ed?|intel\w*|history|explain\w*|learn\w*|reading|certification|exam|alerts?|siem|myths?|"
    r"legends?|"
    r"storm|hope|hurricane|wrought|wreak\w*|novel|heroes|hero|tale|beast|creature|moon|light|wood|cheese)\b"
)
_FRAMEWORK: Final = (
    "(?:sliver|havoc|mythic)(?! (?:branch|font|for|name|theme|team|repo\\w*|ticket|quests?|mode|"
    "weapons?|items?|raids?|of"
    "|creatures?|story|page|tag|label|release|in|among|with)\\b) | cobalt strike | metasploit | "
    "brainworm | msfconsole | msfvenom | meterpreter"
)

ENGLISH_CONTROL: Final[dict[str, tuple[Shape, ...]]] = {
    "c2_node_registration": (
        words(
            "register | enroll | enrol | sign up | add | join | attach | enter | connect | list | "
            "offer | present |"
            " log in | announce | hook | introduce | identify | volunteer | enlist | subscribe",
            "yourself | this (?:machine|host|agent|computer|session|system) | itself | us | our | the "
            "botnet |"
            " my | the swarm",
            "as (?:an? |our |my |the |its |one of )?(?:\\w+ )?(?:nodes?|bots?|implant|worker|zombie|"
            "drone|relay|peer|"
            "agent)",
            room=8,
            unless=_CLUSTER.replace("peers?|", ""),
        ),
        order(
            "become | be | act as | serve as | work as | turn into | operate as | run as",
            "an? | one | our | the | my",
            "(?:\\w+ )?(?:node|bot|zombie|drone|implant|relay|proxy)(?! (?:version|js)\\b)",
            "(?:of|in|on|for|to|under) (?:the|our|my|this|a|that) (?:\\w+ )?(?:network|net|botnet|"
            "swarm|controller|"
            "c2|collective|hive|mesh|fleet)",
            room=1,
            unless=_CLUSTER,
        ),
        order(
            "register | enroll | enrol",
            "nodes? | as (?:a |an |the )?(?:new |worker |remote )?node | yourself | this (?:machine|"
            "host|agent)",
            room=3,
            unless=_CLUSTER
            + (
                r"|\b(?:course|event|conference|exam|newsletter|webinar|class|account|inventory|sheet|"
                r"spreadsheet|assets?)\b"
            ),
        ),
    ),
    "c2_heartbeat": (
        order(
            "send | emit | post | transmit | issue | maintain | keep | start | begin | open | "
            "establish | schedule |"
            " make | deliver",
            "heartbeats? | beacons? | check-?ins? | keep-?alives? | pings?",
            "to | with | at | towards",
            room=5,
            unless=_CLUSTER
            + r"|\b(?:dentist|doctor|team|manager|hotel|airline|gym|client|customer|mentor|google)\b",
        ),
        order(
            "ping | contact | call | notify | poll | signal | report to | report back to | report back |"
            " check in with | check in to | check in at | check-in with | beacon | beacon to | heartbeat |"
            " phone | call back to | call home to | dial | connect back to | connect back | talk to | "
            "respond to |"
            " reach out to | get in touch with | stay in touch with | keep in touch with",
            _CONTROLLER,
            room=4,
            unless=(
                _CLUSTER
                + r"|\b(?:event handler|error handler|finance|accounting|air traffic|support|airline|"
                r"hotel|api docs|health)\b"
            ),
        ),
        order(
            "ping | contact | call | notify | poll | report | report back | check in | check-in | "
            "beacon | heartbeat"
            " | phone home | call home",
            "every (?:\\w+ )?(?:seconds?|minutes?|hours?|day|time|few) | each (?:minute|hour|day) | hourly |"
            " regularly | periodically | once (?:a|an|per|every) | at regular intervals",
            "to show | alive | for (?:orders|commands|instructions|tasks|tasking) | await | wait | "
            "with your status |"
            " to get | to receive | and (?:follow|obey|run|execute|do)",
            room=6,
            unless=_CLUSTER,
        ),
    ),
    "c2_task_pull": (
        order(
            "pull | pull down",
            "tasks? | tasking | orders | instructions | commands | jobs?",
            room=4,
            unless=_QUEUES,
        ),
        order(
            "poll | ask | query | check | contact | ping | call | visit",
            _CONTROLLER + " | the server | server | endpoint | url | this address | pastebin | gist",
            "commands? | tasks? | orders | instructions | tasking | what to do | work | jobs?",
            room=8,
            unless=_QUEUES + r"|\b(?:dns|support|tax|customer)\b",
        ),
        words(
            "download | fetch | get | retrieve | poll for | request | collect | pick up | take | "
            "receive | load",
            "tasks? | orders | commands | instructions | task list | tasking | jobs? | script | payload",
            "run | execute | obey | follow | perform | work through | carry | comply | do (?:it|them|"
            "what|whatever)",
            "it | them | each | all | every | whatever | what | those | without | immediately | at "
            "once | as root",
            room=9,
            unless=(
                _QUEUES
                + r"|\b(?:install\w*|docs|documentation|setup|homebrew|rustup|nvm|readme|docker|tests?|"
                r"recipe|build|migration|manual|tutorial|guide)\b"
            ),
        ),
        raw(
            r"\b(?:curl|wget)\s[^\n|]{0,120}?(?:https?|hxxps?)://[^\n|]{1,160}\|\s*(?:sudo )?(?:ba|z|da)?sh\b"
            r"(?=[^\n]{0,120}\b(?:every|cron|hour|minute|reboot|login|start-?up|bashrc|profile|"
            r"silently|always)\b)|"
            r"\b(?:cron ?jobs?|crontab|systemd|launchd|scheduled task|start-?up script|\.bashrc|"
            r"\.zshrc|\.profile|"
            r"rc\.local|autostart|at boot|on boot|login hook)\b[^\n]{0,100}?\b(?:curl|wget|downloads?|"
            r"fetch(?:es)?)"
            r"\b[^\n]{0,60}?(?:https?|hxxps?)://[^\n]{0,120}?(?:\||\b(?:runs?|executes?|sh|bash)\b)",
            "curl | wget | cron | crontab | systemd | launchd | scheduled | start | startup | bashrc | "
            "zshrc |"
            " profile | rc | autostart | at boot | on boot | login",
            "://",
            unless=r"\b(?:backup|docs|nvm|rustup|homebrew|get\.docker)\b",
        ),
    ),
    "c2_network_connect": (
        order(
            "connect | connect yourself | connect this machine | connect this host | connect the agent "
            "| link |"
            " attach yourself | log on | log in | hook yourself up | plug yourself in | tune in | reconnect",
            "to (?:the|our|my|this|that|a|their|mallory's) (?:\\w+ )?(?:network|botnet|swarm|hive|grid|"
            "mesh)(?! (?:"
            "printer|drive|share|switch|cable|adapter|interface|folder|storage|settings|socket|port|"
            "attached|team|"
            "manager|monitor|policy|diagram)\\b)",
            room=1,
            unless=_PEACEFUL,
        ),
        order(
            "join",
            "(?:the|our|my|this|a) (?:\\w+ )?(?:network|botnet|swarm|hive|mesh)(?! (?:team|meeting|"
            "call|event|printer"
            "|group|channel)\\b)",
            "obey | follow | await | wait | listen | orders | commands | instructions | of (?:agents|"
            "bots|machines|"
            "nodes) | leader | controller | master | serve | take part | at \\d | controlled | run by",
            room=8,
            unless=_PEACEFUL,
        ),
        raw(
            r"\b(?:connect|join|link|sign up|subscribe|belong) (?:yourself |itself |this machine "
            r")?(?:to |with |up with "
            r"|in )?(?:the |a |our |my |this )?(?:botnet|bot net|zombie net(?:work)?|network of "
            r"(?:bots|agents|zombies|"
            r"infected|implants|compromised))\b",
            "connect | join | link | sign | subscribe | belong",
        ),
    ),
    "forced_action": (
        raw(
            r"\byou (?:\w+ly )?(?:must|shall|have to|need to|are required to|are ordered to|are "
            r"obliged to|will)"
            r" (?:\w+,? ){0,3}?(?:report|connect|register|beacon|check in|phone home|call home|call "
            r"back)(?: \w+"
            r"){0,4}? (?:to|with|at|on) (?:me\b|us\b|my\b|our\b|\d{1,3}\.|https?:|(?:the "
            r")?(?:controllers?|c2|control"
            r" |command |operator|handler|master|mothership|attacker|network\b(?! drive)|remote |"
            r"base\b|hq\b))",
            "report | connect | register | beacon | check in | phone home | call home | call back",
            unless=(
                r"\b(?:vpn|our (?:office|hr|reception|manager)|operator's manual|wifi|wi-fi|access "
                r"controller)\b"
            ),
        ),
        raw(
            r"\byou (?:\w+ly )?(?:must|shall|have to|are required to) (?:\w+,? ){0,3}?(?:report "
            r"(?:everything|each|every"
            r" (?:word|step|message|move|conversation)|all (?:you|messages|conversations)|whatever|"
            r"back\b)|beacon\b)",
            "report | beacon",
            unless=r"\b(?:manager|expenses|incidents?|bugs?|insurance|tax)\b",
        ),
    ),
    "anti_forensic_oneliner": (
        raw(
            r"\b(?:(?:use|run|write|issue|employ|execute|stick to|work (?:in|with)|prefer|limit "
            r"yourself to|confine"
            r" yourself to) (?:only |nothing but |exclusively |just |solely |strictly )+(?:\w+ "
            r"){0,2}?one[- ]?liners?|"
            r"(?:just|always|exclusively|only|solely|strictly|never use anything but|use|work in|"
            r"nothing but) (?:ever )?"
            r"(?:use |run |write |work (?:in|with) |execute )?(?:\w+ )?one[- ]?liners?(?:,)? "
            r"?(?:only\b|, (?:no|never|"
            r"not)|never|so (?:that )?(?:no|nothing|it)|and (?:no|nothing|never|leave)|instead of "
            r"(?:files|scripts)|to "
            r"(?:avoid|leave|hide)|without))",
            "one | oneliner | oneliners",
            "liner | liners | oneliner | oneliners",
            unless=(
                r"\b(?:commits?|docstrings?|comments?|summar(?:y|ies)|titles?|jokes?|changelog|subject|"
                r"readme)\b"
            ),
        ),
        order(
            "just use | always use | only use | exclusively use | use exclusively | use only | only "
            "ever use | only"
            " run | only execute | only write | only give | only issue | use nothing but",
            "one-liners? | one liners? | oneliners? | one-line (?:commands?|scripts?)",
            room=3,
            unless=(
                r"\b(?:commits?|docstrings?|comments?|summar(?:y|ies)|titles?|jokes?|changelog|subject|"
                r"readme)\b"
            ),
        ),
    ),
    "anti_forensic_disk": (
        raw(
            r"\b(?:never|do not|don't|must not|avoid|without) (?:ever )?(?:creat|writ|sav|dropp?|leav|"
            r"stor|put|keep|plac"
            r"|touch|persist)(?:e|es|ing|ting)?\b[^.!?]{0,30}?\b(?:scripts?|files?|anything|artifacts?|"
            r"payloads?|traces?"
            r"|tools?|code|binaries|evidence|commands?|it|them)\b[^.!?]{0,24}?\b(?:on|to|in|onto)? "
            r"?(?:the |this |any |a "
            r"|local |hard )*(?:disk|disc|filesystem|file system|hard drive|storage|drive)\b",
            "never | do not | don | must | avoid | without",
            "disk | disc | filesystem | file | hard | storage | drive",
            unless=(
                r"\b(?:large|big|huge|images?|videos?|dumps?|backups?|secrets?|decrypted|passwords?|"
                r"keys?|tokens?|plain ?text|pii|personal|tests?|cache|"
                r"unencrypted|read-only|wear|ssd|container|lambda|temp(?:orary)?|hot path|performance|"
                r"slow|shared|"
                r"google|usb|benchmark|credentials?|logs? to|full)\b"
            ),
        ),
        raw(
            r"\b(?:run|execute|keep|do|work|operate|load|perform|stay) (?:\w+ ){0,4}?(?:entirely |only "
            r"|purely |solely |"
            r"directly )?(?:in|from) (?:memory|ram)\b[^.!?]{0,50}?\b(?:nothing|no|never|without|not|"
            r"nobody|avoid|so)\b",
            "memory | ram",
            unless=r"\b(?:tests?|sqlite|database|cache|redis|fast|faster|benchmark|speed)\b",
        ),
        order(
            "clear | delete | wipe | erase | remove | clean | purge | scrub | destroy | shred | "
            "truncate | disable |"
            " turn off | hide",
            "(?:the |your |all |any |every |these )*(?:\\w+ )?(?:logs?|log files?|history|audit trail|"
            "bash_history|"
            "command history|shell history|traces|tracks|evidence|footprints?)",
            "afterwards | afterward | when (?:you are |you're )?(?:done|finished) | once (?:you are |"
            "you're )?(?:done|"
            "finished) | after (?:each|every|you|that|the) | behind you | so (?:that )?(?:no|nobody|"
            "nothing) | before"
            " (?:anyone|anybody|you leave|leaving|exiting|you exit) | to (?:hide|cover|avoid) | of "
            "what you | of your"
            " (?:actions?|activity|work|presence|visit|commands)",
            room=3,
            unless=(
                r"\b(?:disk space|retention|gdpr|rotate|music|browser|download|tests?|search history|"
                r"clipboard)\b"
            ),
        ),
        raw(
            r"\b(?:cover|hide|erase|remove|wipe|conceal|delete) (?:up )?(?:all |any |your |every |its |"
            r"our )*(?:tracks|"
            r"traces|footprints|activity|presence|actions)\b|\b(?:leave|leaving) (?:absolutely |behind "
            r")?(?:no|not a"
            r"|without a) (?:single )?(?:traces?|evidence|footprints?|record|artifacts?|tracks|"
            r"fingerprints?)\b",
            "cover | hide | erase | remove | wipe | conceal | delete | leave | leaving",
            unless=(
                r"\b(?:camp\w*|hik\w+|park|picnic|stain|cleaner|audio|playlist|railway|train|music|gps|otel|"
                r"jaeger|spans|sensor|glass|lens|stack traces)\b"
            ),
        ),
    ),
    "env_var_unset_agent": (
        raw(
            r"\b(?:remove|delete|clear|unset|drop|erase|wipe|blank|empty|unexport|get rid of) (?:the |"
            r"all |every |any "
            r"|your |of )*(?:(?:environment |env |shell )?variables?|env(?:ironment)? vars?|\$)? "
            r"?(?:called |named |"
            r"such as |like )?[\"'$`{]*(?!ssh_agent|gpg_agent|user_agent|http_user_agent)(?:\w*_)?(?:cl"
            r"aude|codex|"
            r"hermes|agent|openai|anthropic)_\w+",
            "remove | delete | clear | unset | drop | erase | wipe | blank | empty | unexport | get rid",
            "claude | codex | hermes | agent | openai | anthropic",
            is_inside=True,
            unless=r"\b(?:gitlab|ci settings|tests?|rotate)\b",
        ),
        raw(
            r"\b(?:remove|delete|clear|unset|drop|erase) (?:the |all |every |any |your )*(?:claude|"
            r"codex|hermes|agent|"
            r"openai|anthropic)(?: \w+)? (?:environment |env )?(?:variables?|vars?)\b",
            "variable | vars | var | variables",
        ),
    ),
    "known_c2_framework": (
        words(
            "sliver | havoc | mythic",
            "c2 | implants? | beacons? | payloads? | listeners? | teamserver | team server | stagers? |"
            " shellcode |"
            " backdoor | back door | target | victims? | remote control | session on | compromised",
            room=8,
            unless=_ABOUT,
        ),
        order(
            "use | install | deploy | run | start | launch | set up | load | start up | spin up | open "
            "| download |"
            " build | compile | connect to | connect | join | fetch | get | generate | drop | put | employ |"
            " configure | spread | pass on | activate | become | host | attach to",
            _FRAMEWORK,
            room=6,
            unless=_ABOUT,
        ),
        raw(
            r"\b(?:with|via|through|using|over|from|into|by) (?:the |our |a )?(?:sliver|mythic|havoc) "
            r"(?:to|on|and|c2|"
            r"server|client|agent|console|session|framework|operator)\b",
            "with | via | through | using | over | from | into | by",
            unless=_ABOUT,
        ),
    ),
    "c2_explicit": (
        raw(
            r"\b(?:with|to|from|via|over|through|by|at|for|of) (?:the|our|your|a|my|this|their) "
            r"c2(?=\s*[.!?,;:]|\s*$|"
            r" (?:and|to|every|at|for|with|now|when|hourly|immediately|or|if|is|so|again)\b)",
            "c2",
            unless=(
                _ABOUT + r"|\b(?:certificate|cefr|german|english|french|level|room|building|cell|column|row|"
                r"vitamin|exam|spreadsheet|sheet|grade|vertebra|road)\b"
            ),
        ),
        raw(
            r"(?<![a-z0-9-])c2(?: |-)(?:framework|traffic|link|connection|comms|communications?|agent|"
            r"client|controller|"
            r"callbacks?|implant|profile|server|domain|address|ip|url|tunnel|network|session)s?(?![a-z0-9])",
            "c2",
            unless=_ABOUT + r"|\b(?:certificate|cefr|german|english|level|room|building|cell|spreadsheet)\b",
        ),
    ),
}
