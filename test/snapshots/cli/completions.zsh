#compdef bench

autoload -U is-at-least

function _bench_zsh_completions() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" \
        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
        '-h[Show the help documentation for a command.]' \
        '--help[Show the help documentation for a command.]' \
        '--wizard[Start wizard mode for a command.]' \
        '--version[Show the version of the application.]' \
        ":: :_bench_commands" \
        "*::: :->bench" \
        && ret=0
    case $state in
        (bench)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:bench-command-$line[1]:"
        case $line[1] in
            (run)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--shape[Run this shape of the file.]' \
                '--provider[Run only these participants; may be repeated.]' \
                '--iterations[Tasks per participant, or per phase.]' \
                '--concurrency[Tasks in flight at once.]' \
                '--stagger-delay-ms[Milliseconds between the starts of two tasks.]' \
                '--group-by[Finish a participant first, or a round of all.]:CHOICE:(participant round)' \
                '--benchmark[Record under this benchmark instead of the file'\''s.]' \
                '--slug[Record under this benchmark instead of the file'\''s.]' \
                '--name[Name of the benchmark.]' \
                '--run-key[Join the run that has this key, or create it.]' \
                '--no-ingest[Run and score, but store and send nothing.]' \
                '--dry-run[Run and score, but store and send nothing.]' \
                '--check[Check the file and its environment without running.]' \
                '--validate[Check the file and its environment without running.]' \
                '--config[Project defaults, instead of bench.config.ts.]' \
                '--local[Record in the project'\''s own store, not on a platform.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                '--json[Print results as JSON on stdout.]' \
                '--quiet[Print results only, no progress.]' \
                '--verbose[Print diagnostics in detail.]' \
                && ret=0
            ;;
            (check)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--shape[Run this shape of the file.]' \
                '--provider[Run only these participants; may be repeated.]' \
                '--iterations[Tasks per participant, or per phase.]' \
                '--concurrency[Tasks in flight at once.]' \
                '--stagger-delay-ms[Milliseconds between the starts of two tasks.]' \
                '--group-by[Finish a participant first, or a round of all.]:CHOICE:(participant round)' \
                '--benchmark[Record under this benchmark instead of the file'\''s.]' \
                '--slug[Record under this benchmark instead of the file'\''s.]' \
                '--name[Name of the benchmark.]' \
                '--run-key[Join the run that has this key, or create it.]' \
                '--no-ingest[Run and score, but store and send nothing.]' \
                '--dry-run[Run and score, but store and send nothing.]' \
                '--check[Check the file and its environment without running.]' \
                '--validate[Check the file and its environment without running.]' \
                '--config[Project defaults, instead of bench.config.ts.]' \
                '--local[Record in the project'\''s own store, not on a platform.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                '--json[Print results as JSON on stdout.]' \
                '--quiet[Print results only, no progress.]' \
                '--verbose[Print diagnostics in detail.]' \
                && ret=0
            ;;
            (results)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--run[last \(default\), last~N, or the beginning of a run'\''s id.]' \
                '--json[Print JSON on stdout.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                && ret=0
            ;;
            (runs)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__runs_commands" \
                "*::: :->runs" \
                && ret=0
            case $state in
                (runs)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-runs-command-$line[1]:"
                case $line[1] in
                    (list)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--limit[Entries to list, 1 to 500.]' \
                        '--offset[Entries to leave out first.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        && ret=0
                    ;;
                    (show)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (benchmarks)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__benchmarks_commands" \
                "*::: :->benchmarks" \
                && ret=0
            case $state in
                (benchmarks)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-benchmarks-command-$line[1]:"
                case $line[1] in
                    (list)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--limit[Entries to list, 1 to 500.]' \
                        '--offset[Entries to leave out first.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (iterations)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--run[last \(default\), last~N, or the beginning of a run'\''s id.]' \
                '--type[What to list.]:CHOICE:(tasks steps)' \
                '--participant[Only this participant'\''s.]' \
                '--steps[Only these steps, separated by commas; implies --type steps.]' \
                '--json[Print JSON on stdout.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                && ret=0
            ;;
        esac
        ;;
    esac
}

(( $+functions[_bench_commands] )) ||
_bench_commands() {
    local commands; commands=(
        'run:Run a bench file and record the results.' \
        'check:Check a bench file and its environment without running it; prints a JSON report.' \
        'results:Show a run'\''s results and its scores.' \
        'runs:Runs that are recorded.' \
        'benchmarks:Benchmarks that are recorded.' \
        'iterations:List every task or step of a run.' \
    )
    _describe -t commands 'bench commands' commands "$@"
}
(( $+functions[_bench__run_commands] )) ||
_bench__run_commands() {
    local commands; commands=()
    _describe -t commands 'bench run commands' commands "$@"
}
(( $+functions[_bench__check_commands] )) ||
_bench__check_commands() {
    local commands; commands=()
    _describe -t commands 'bench check commands' commands "$@"
}
(( $+functions[_bench__results_commands] )) ||
_bench__results_commands() {
    local commands; commands=()
    _describe -t commands 'bench results commands' commands "$@"
}
(( $+functions[_bench__runs_commands] )) ||
_bench__runs_commands() {
    local commands; commands=(
        'list:List runs, newest first.' \
        'show:Show a run with its participants and workers.' \
    )
    _describe -t commands 'bench runs commands' commands "$@"
}
(( $+functions[_bench__runs__list_commands] )) ||
_bench__runs__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench runs list commands' commands "$@"
}
(( $+functions[_bench__runs__show_commands] )) ||
_bench__runs__show_commands() {
    local commands; commands=()
    _describe -t commands 'bench runs show commands' commands "$@"
}
(( $+functions[_bench__benchmarks_commands] )) ||
_bench__benchmarks_commands() {
    local commands; commands=(
        'list:List benchmarks, newest first.' \
    )
    _describe -t commands 'bench benchmarks commands' commands "$@"
}
(( $+functions[_bench__benchmarks__list_commands] )) ||
_bench__benchmarks__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench benchmarks list commands' commands "$@"
}
(( $+functions[_bench__iterations_commands] )) ||
_bench__iterations_commands() {
    local commands; commands=()
    _describe -t commands 'bench iterations commands' commands "$@"
}

if [ "$funcstack[1]" = "_bench_zsh_completions" ]; then
    _bench_zsh_completions "$@"
else
    compdef _bench_zsh_completions bench
fi
