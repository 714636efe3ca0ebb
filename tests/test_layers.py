"""The floors of gitmem: imports point down, one library is imported by one file, names say what a file is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import gitmem

PACKAGE = Path(gitmem.__file__).parent

#: Lowest floor first; within a floor a module imports only modules listed before it. A name that ends in a
#: slash is a family: its files may import each other.
FLOORS = [
    row.split()
    for row in (
        # 0 words
        "errors times counted records refs config identity json_view late_list",
        # 1 pure rules
        """repository git_objects ledger_line ledger_format turn_evidence forgotten lifecycle_rules
        forgetting_record long_text model_messages subjects authored_text branch_changes entries memory_call
        memory_rules memory_reply graphemes frozen_block guidance judgement_rules protected_paths note_tags
        control_signs conflict_marks ledger_text store_text text_folding findings secret_rules redaction
        front_matter_yaml front_matter front_matter_edit note_text catalog note_identity slugs blocked_parts
        quarantine_rules invisible_characters word_places pattern_words fast_patterns threat_shapes
        injection_rules smuggling_rules role_rules remote_control_rules exfiltration_rules english_injection
        english_deception english_leaks chinese_injection chinese_leaks threat_orders english_overrides
        english_persuasion english_unlocking english_smuggling english_control english_theft
        chinese_overrides chinese_persuasion chinese_control foreign_injection threat_rules mentions
        disguises threat_index text_sight threats recorded_threats scanner found_edits prose_section
        prompt_block message_authority work_rules wait_rules focus_rules object_fold work_paths work_changes
        turn_work work_item patch_paths command_programs command_line command_files web_addresses
        github_refs tool_evidence work_ref work_ref_merge work_ref_evidence work_ref_text stemming
        word_lists term_folding word_terms chunk_places analysis recipe time_words date_spans relative_spans
        english_dates english_relative chinese_dates date_pieces asked_dates time_limits question traits
        documents manifest authored_times postings_cache exact_words snippet advanced_query search_cursor
        search_reply session_rows session_view session_request session_reply text_merge undo_rules
        branch_merge
        path_names settling tree_edit merge_moves closed_tree conflict_copies tree_merge tree_sides
        conflict_resolution staging_extensions staging_area pack_format pack_deltas git_pattern attributes
        git_refs episode_marks episode_rules episode_record git_config reachability sync_pace merge_bases
        commit_merge transfer_walk remote_url growing_file ledger_tree line_trees tree_changes ledger_growth
        verify_finding ledger_chain turn_commits first_commit index_merging token_estimate text_cut
        context_section context_planner quoting open_question turn_lines recent_turns episode_selection
        cache_identity execution_environment context_sections work_sections
        context_assembly context_record""",
        # 2 seams
        """layout episode_file episode_order episode_parse tree_files watched mounts durable_file file_lock
        linked_file git_lock recent_objects shared_files file_exchange work_tree work_tree_links home_owner
        attribute_files commit_signing new_repository ref_files pack_files pack_sources loose_objects
        ref_packing private_folder search_index index_folder index_damage memory_part changes cat_file
        remote_repository push_rules templates/""",
        # 3 one library each, and the fakes
        """backends/dulwich_repository/ backends/whoosh_index/ backends/tantivy_index/
        backends/watchdog_changes git_transport/ testing/""",
        # 4 one thing remembered
        """pack_maintenance pack_rollup loose_reach loose_packing maintenance_need git_state staged_index
        pending_writes branch_home branch_files branch_snapshot branch_tags tree_checkout head_advance
        branch_landing branch_queue accepted_changes operator_branch curated arrivals quarantine_file
        auto_load commit_names store_sight content_checks commit_checks hook_scripts hook_files pushed_lines
        note_ids commit_times authored_files note_paths note_plan notes tree_sight proposals write_approval
        duty index_retries watch_state home_place writer failure_counts line_astray line_turns lines remotes
        line_sync tag_sync sync_notes stale_ref_locks rescue_refs remote_standing spare_files drivers
        spool_file spool ledger facts_file segment_facts held_records judgements lifecycle history past_ledger
        work_turns work_state plan_notices forget_notices plan_files plan_sight past_plans sealing
        turn_places line_position line_closing line_merge line_recovery disk_copy episode_facts
        episode_closing line_draft found_turn writer_change turn_line adoption ledger_copy session_snapshot
        session_map session_lineage""",
        # 5 use cases
        """maintenance init turn turn_recorder index_backlog index_batch index_trouble indexer reindexing
        index_runs memory_text gone_entries memory_files source_errors clean_blobs held_files
        quarantine
        quarantine_marks short_refs agent_sight memory_get latest_snapshots search_candidates scoring/
        search_hits unindexed index_view index_status search status commit_found importers/ chosen_index
        machine_settings memory_records authoring refused_facts prose_writes entry_edits memory_gate
        memory_stores store_tidying memory_tool retraction proposal_judging editing memory_status
        work_status status_report sample_home shown file_writes session_messages session_discovery
        session_search work_files work_reply work work_listing past_tree episode_reading episodes
        file_versions forget_targets forget_matches forgotten_branch forgotten_leftovers forgotten_sweep
        forgetting verify_beside verify_losses verify_ledger verify_episodes verify_branch verify_store
        verify_disk verify_index verify
        verify_range verify_witness context_moment episode_anchors context_files context_reading context
        home_reading_parts home_writing_parts home_cleaning_parts sync_reply branch_sync sync_intake
        sync_delivery sync_tally sync clone text_origin resolving reverting semantic_diff moment_files
        diffing home_parts""",
        # 6 doors
        """watch_parts beside vigil watch background_command home_forget home_episodes home_notes home_memory
        home_machine home_index home_judging home_editing home_sessions home_session_search
        home_quarantine home_history home_sync
        home_verify home_tools home_work home_context home demo watch_home git_driver cli/ __main__""",
    )
]

#: Library -> the one file, or the one family, that may import it.
FENCES = {
    "dulwich": "backends/dulwich_repository/",
    "whoosh": "backends/whoosh_index/",
    "tantivy": "backends/tantivy_index/",
    "watchdog": "backends/watchdog_changes",
    "merge3": "text_merge",
    "regex": "graphemes",
    "frontmatter": "front_matter_yaml",
    "yaml": "front_matter_yaml",
    "click": "cli/",
    "rich": "cli/drawing",
    "numpy": "scoring/",
}

#: Words that say nothing about what a file holds.
EMPTY_NAMES = {"utils", "util", "helpers", "common", "manager", "service", "base", "core", "misc"}

FACADE = "__init__"


@cache
def modules() -> Mapping[str, Path]:
    """Return name (slashes, below the package) and path of each module; a package by its folder's."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        names[name.removesuffix("/__init__")] = path
    return names


def place_of(name: str) -> tuple[int, int]:
    """Return floor and place on it of a module; a package's own `__init__` stands with its first member."""
    for floor, row in enumerate(FLOORS):
        for place, listed in enumerate(row):
            family = listed.endswith("/") and (name + "/").startswith(listed)
            if name == listed or family or listed.startswith(name + "/"):
                return floor, place
    raise AssertionError(f"{name} stands on no floor: add it to FLOORS")


@cache
def imports_of(path: Path) -> tuple[tuple[str, int], ...]:
    """Return dotted name and line of everything a file imports, also inside functions and for types only."""
    return tuple(_imports_of(path))


def _imports_of(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def inner_imports(path: Path, known: Mapping[str, Path]) -> Iterator[tuple[str, int]]:
    """Yield the gitmem modules that a file imports; the bare facade counts as `__init__`."""
    for dotted, line in imports_of(path):
        head, _, rest = dotted.partition(".")
        if head != "gitmem":
            continue
        name = rest.replace(".", "/")
        while name and name not in known:
            name = name.rpartition("/")[0]
        yield name or FACADE, line


@pytest.mark.parametrize("name", sorted(set(modules()) - {FACADE}))
def test_imports_point_down(name: str) -> None:
    """A module imports only what is below it, so that each can be read without what is built on it."""
    known = modules()
    here = place_of(name)
    for other, line in inner_imports(known[name], known):
        if other == FACADE:
            taken = {d for d, at in imports_of(known[name]) if at == line and d.startswith("gitmem")}
            assert taken == {"gitmem.__version__"}, f"{name}:{line} imports the facade"
            continue
        there = place_of(other)
        assert there < here or same_family(name, other), (
            f"{name}:{line} imports {other}, which is not below it"
        )


def same_family(name: str, other: str) -> bool:
    """Say whether two modules stand in one listed family."""
    return any(
        listed.endswith("/") and (name + "/").startswith(listed) and (other + "/").startswith(listed)
        for row in FLOORS
        for listed in row
    )


@pytest.mark.parametrize("library", FENCES)
def test_one_library_has_one_importing_file(library: str) -> None:
    """A foreign library stays behind one file, so that it can be replaced there."""
    importing = {
        name
        for name, path in modules().items()
        if any(dotted.split(".")[0] == library for dotted, _ in imports_of(path))
    }
    fence = FENCES.get(library)
    if fence is None:
        assert len(importing) <= 1
    elif fence.endswith("/"):
        assert all((name + "/").startswith(fence) for name in importing)
    else:
        assert importing <= {fence}


def test_names_say_something() -> None:
    """No file is called by a word that fits every file."""
    assert not [name for name in modules() if name.rpartition("/")[2] in EMPTY_NAMES]
