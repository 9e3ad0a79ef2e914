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
                '--worker-pool[Split each participant over N workers; every run with the same --run-key takes the next.]' \
                '--threshold[Exit with 4 unless it holds, such as "ttiMs.p95 <= 250"; may be repeated.]' \
                '--no-ingest[Run and score, but store and send nothing.]' \
                '--dry-run[Run and score, but store and send nothing.]' \
                '--check[Check the file and its environment without running.]' \
                '--validate[Check the file and its environment without running.]' \
                '--config[Project defaults, instead of bench.config.ts.]' \
                '--local[Record in the project'\''s own store, not on a platform.]' \
                '--base-url[Platform to record on.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization to record under.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                '--json[Print results as JSON on stdout.]' \
                '--log-format[How progress is printed on stderr\: json is one event a line.]:CHOICE:(text json)' \
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
                '--worker-pool[Split each participant over N workers; every run with the same --run-key takes the next.]' \
                '--threshold[Exit with 4 unless it holds, such as "ttiMs.p95 <= 250"; may be repeated.]' \
                '--no-ingest[Run and score, but store and send nothing.]' \
                '--dry-run[Run and score, but store and send nothing.]' \
                '--check[Check the file and its environment without running.]' \
                '--validate[Check the file and its environment without running.]' \
                '--config[Project defaults, instead of bench.config.ts.]' \
                '--local[Record in the project'\''s own store, not on a platform.]' \
                '--base-url[Platform to record on.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization to record under.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                '--json[Print results as JSON on stdout.]' \
                '--log-format[How progress is printed on stderr\: json is one event a line.]:CHOICE:(text json)' \
                '--quiet[Print results only, no progress.]' \
                '--verbose[Print diagnostics in detail.]' \
                && ret=0
            ;;
            (worker)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--run[Run to take a worker of.]' \
                '--participant[Participant to take a worker of.]' \
                '--forever[Take one worker after another, and wait for more, until the run has ended.]' \
                '--shape[Run this shape of the file.]' \
                '--concurrency[Tasks in flight at once.]' \
                '--stagger-delay-ms[Milliseconds between the starts of two tasks.]' \
                '--benchmark[Record under this benchmark instead of the file'\''s.]' \
                '--slug[Record under this benchmark instead of the file'\''s.]' \
                '--config[Project defaults, instead of bench.config.ts.]' \
                '--local[Record in the project'\''s own store, not on a platform.]' \
                '--base-url[Platform to record on.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization to record under.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                '--json[Print results as JSON on stdout.]' \
                '--log-format[How progress is printed on stderr\: json is one event a line.]:CHOICE:(text json)' \
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
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
                && ret=0
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
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
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
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
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
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
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
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (logs)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--run[last \(default\), last~N, or the beginning of a run'\''s id.]' \
                '--participant[Only this participant'\''s.]' \
                '--worker[Only this worker'\''s\: its number, from 1.]' \
                '--max-lines[The last lines of each log, at most so many.]' \
                '--follow[Go on with new lines until the run has ended.]' \
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
                && ret=0
            ;;
            (artifacts)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__artifacts_commands" \
                "*::: :->artifacts" \
                && ret=0
            case $state in
                (artifacts)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-artifacts-command-$line[1]:"
                case $line[1] in
                    (list)
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
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (get)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--run[last \(default\), last~N, or the beginning of a run'\''s id.]' \
                        '--out[File or folder to write, - for stdout; default\: a file here, called as the artifact is.]' \
                        '--force[Replace a file that exists.]' \
                        '--gunzip[Decompress what was uploaded compressed.]' \
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (export)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--run[last \(default\), last~N, or the beginning of a run'\''s id.]' \
                '--out[File to write or replace; default\: stdout.]' \
                '--format[Default\: what the file'\''s name ends with, else json.]:CHOICE:(json csv ndjson)' \
                '--type[What to write.]:CHOICE:(tasks steps)' \
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
                && ret=0
            ;;
            (report)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--benchmark[Only runs of this benchmark are meant.]' \
                '--out[File to write or replace, - for stdout; default\: stdout, and SLUG-ID.html for a page.]' \
                '--format[Default\: what the file'\''s name ends with, else html.]:CHOICE:(html md json csv junit)' \
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
                && ret=0
            ;;
            (compare)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--baseline[Compare with this saved baseline, or with \`current\`.]' \
                '--participants[Two participants of one run, separated by a comma.]' \
                '--benchmark[Of which benchmark \`last\` is meant.]' \
                '--fail-on[Exit with 4 when it holds, such as "ttiMs.p95 > +10%"; may be repeated.]' \
                '--json[Print JSON on stdout.]' \
                '--format[How the comparison is printed.]:CHOICE:(table markdown json)' \
                '--local[Look into the project'\''s own store.]' \
                '--base-url[Platform to ask.]' \
                '--api-key[API key of the platform.]' \
                '--org[Organization whose runs are meant.]' \
                && ret=0
            ;;
            (baseline)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__baseline_commands" \
                "*::: :->baseline" \
                && ret=0
            case $state in
                (baseline)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-baseline-command-$line[1]:"
                case $line[1] in
                    (save)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--benchmark[Of which benchmark \`last\` is meant.]' \
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (list)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (use)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (remove)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--local[Look into the project'\''s own store.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (push)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--all[Deliver everything that is waiting.]' \
                '--list[Only show what is waiting.]' \
                '--discard[Remove it instead\: for records that the platform takes no more.]' \
                '--force[Also what a process of another machine holds, if that has ended for sure.]' \
                '--api-key[API key of the platform.]' \
                '--json[Print JSON on stdout.]' \
                '--format[How results are printed.]:CHOICE:(json table)' \
                && ret=0
            ;;
            (auth)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__auth_commands" \
                "*::: :->auth" \
                && ret=0
            case $state in
                (auth)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-auth-command-$line[1]:"
                case $line[1] in
                    (login)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (logout)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--base-url[Platform to ask.]' \
                        && ret=0
                    ;;
                    (status)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (org)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                ":: :_bench__org_commands" \
                "*::: :->org" \
                && ret=0
            case $state in
                (org)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-org-command-$line[1]:"
                case $line[1] in
                    (list)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        '--org[Organization whose runs are meant.]' \
                        && ret=0
                    ;;
                    (use)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--base-url[Platform to ask.]' \
                        '--api-key[API key of the platform.]' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
            ;;
            (serve)
            _arguments "${_arguments_options[@]}" \
                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                '-h[Show the help documentation for a command.]' \
                '--help[Show the help documentation for a command.]' \
                '--wizard[Start wizard mode for a command.]' \
                '--version[Show the version of the application.]' \
                '--port[Port to listen on; 0 takes a free one.]' \
                '--host[Address to listen on\: only this machine, unless it is another, such as <version>.0.]' \
                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                '--artifacts[A directory or s3\://bucket?endpoint=…&region=…; default BENCH_ARTIFACTS, else .bench/server-artifacts.]' \
                '--public-url[Where clients reach the server, if it is behind a proxy.]' \
                '--trusted-proxies[How many proxies of yours every request comes through\: whom X-Forwarded-For is believed from.]' \
                '--lease[How long a worker may be silent before another process may take it over.]' \
                ":: :_bench__serve_commands" \
                "*::: :->serve" \
                && ret=0
            case $state in
                (serve)
                words=($line[1] "${words[@]}")
                (( CURRENT += 1 ))
                curcontext="${curcontext%:*:*}:bench-serve-command-$line[1]:"
                case $line[1] in
                    (keys)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        ":: :_bench__serve__keys_commands" \
                        "*::: :->keys" \
                        && ret=0
                    case $state in
                        (keys)
                        words=($line[1] "${words[@]}")
                        (( CURRENT += 1 ))
                        curcontext="${curcontext%:*:*}:bench-serve-keys-command-$line[1]:"
                        case $line[1] in
                            (create)
                            _arguments "${_arguments_options[@]}" \
                                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                                '-h[Show the help documentation for a command.]' \
                                '--help[Show the help documentation for a command.]' \
                                '--wizard[Start wizard mode for a command.]' \
                                '--version[Show the version of the application.]' \
                                '--org[Organization that the key is for.]' \
                                '--name[What the key is for.]' \
                                '--expires[For how long it is good, such as 90d; default for ever.]' \
                                '--quiet[Say nothing but the key.]' \
                                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                                '--json[Print JSON on stdout.]' \
                                '--format[How results are printed.]:CHOICE:(json table)' \
                                && ret=0
                            ;;
                            (list)
                            _arguments "${_arguments_options[@]}" \
                                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                                '-h[Show the help documentation for a command.]' \
                                '--help[Show the help documentation for a command.]' \
                                '--wizard[Start wizard mode for a command.]' \
                                '--version[Show the version of the application.]' \
                                '--org[Only the keys of this organization.]' \
                                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                                '--json[Print JSON on stdout.]' \
                                '--format[How results are printed.]:CHOICE:(json table)' \
                                && ret=0
                            ;;
                            (revoke)
                            _arguments "${_arguments_options[@]}" \
                                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                                '-h[Show the help documentation for a command.]' \
                                '--help[Show the help documentation for a command.]' \
                                '--wizard[Start wizard mode for a command.]' \
                                '--version[Show the version of the application.]' \
                                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                                '--json[Print JSON on stdout.]' \
                                '--format[How results are printed.]:CHOICE:(json table)' \
                                && ret=0
                            ;;
                        esac
                        ;;
                    esac
                    ;;
                    (orgs)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        ":: :_bench__serve__orgs_commands" \
                        "*::: :->orgs" \
                        && ret=0
                    case $state in
                        (orgs)
                        words=($line[1] "${words[@]}")
                        (( CURRENT += 1 ))
                        curcontext="${curcontext%:*:*}:bench-serve-orgs-command-$line[1]:"
                        case $line[1] in
                            (create)
                            _arguments "${_arguments_options[@]}" \
                                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                                '-h[Show the help documentation for a command.]' \
                                '--help[Show the help documentation for a command.]' \
                                '--wizard[Start wizard mode for a command.]' \
                                '--version[Show the version of the application.]' \
                                '--name[What people call it.]' \
                                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                                '--json[Print JSON on stdout.]' \
                                '--format[How results are printed.]:CHOICE:(json table)' \
                                && ret=0
                            ;;
                            (list)
                            _arguments "${_arguments_options[@]}" \
                                '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                                '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                                '-h[Show the help documentation for a command.]' \
                                '--help[Show the help documentation for a command.]' \
                                '--wizard[Start wizard mode for a command.]' \
                                '--version[Show the version of the application.]' \
                                '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                                '--json[Print JSON on stdout.]' \
                                '--format[How results are printed.]:CHOICE:(json table)' \
                                && ret=0
                            ;;
                        esac
                        ;;
                    esac
                    ;;
                    (prune)
                    _arguments "${_arguments_options[@]}" \
                        '--completions[Generate a completion script for a specific shell.]:CHOICE:(sh bash fish zsh)' \
                        '--log-level[Sets the minimum log level for a command.]:CHOICE:(all trace debug info warning error fatal none)' \
                        '-h[Show the help documentation for a command.]' \
                        '--help[Show the help documentation for a command.]' \
                        '--wizard[Start wizard mode for a command.]' \
                        '--version[Show the version of the application.]' \
                        '--older-than[Runs that have not changed for so long, such as 90d.]' \
                        '--dry-run[Only count what would be removed.]' \
                        '--artifacts[A directory or s3\://bucket?endpoint=…&region=…; default BENCH_ARTIFACTS, else .bench/server-artifacts.]' \
                        '--lease[How long a worker may be silent before another process may take it over.]' \
                        '--database[A file, sqlite\:PATH or postgres\://user\:password@host/name; default BENCH_DATABASE, else .bench/server.db.]' \
                        '--json[Print JSON on stdout.]' \
                        '--format[How results are printed.]:CHOICE:(json table)' \
                        && ret=0
                    ;;
                esac
                ;;
            esac
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
        'worker:Take workers of a run that was started elsewhere, and run their tasks.' \
        'results:Show a run'\''s results and its scores.' \
        'iterations:List every task or step of a run.' \
        'runs:Runs that are recorded.' \
        'benchmarks:Benchmarks that are recorded.' \
        'logs:Show the logs of a run'\''s workers.' \
        'artifacts:Files that workers left: logs, system metrics, and more.' \
        'export:Write every task or step of a run as JSON, NDJSON or CSV.' \
        'report:Write what a run found: a page to look at, or Markdown, JSON, CSV or JUnit XML.' \
        'compare:Compare two runs, or two participants of one.' \
        'baseline:Runs to compare with, by name.' \
        'push:Send results that could not be delivered when they were made.' \
        'auth:Credentials for a platform.' \
        'org:Organizations on a platform.' \
        'serve:Serve a platform that machines record their runs on.' \
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
(( $+functions[_bench__worker_commands] )) ||
_bench__worker_commands() {
    local commands; commands=()
    _describe -t commands 'bench worker commands' commands "$@"
}
(( $+functions[_bench__results_commands] )) ||
_bench__results_commands() {
    local commands; commands=()
    _describe -t commands 'bench results commands' commands "$@"
}
(( $+functions[_bench__iterations_commands] )) ||
_bench__iterations_commands() {
    local commands; commands=()
    _describe -t commands 'bench iterations commands' commands "$@"
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
(( $+functions[_bench__logs_commands] )) ||
_bench__logs_commands() {
    local commands; commands=()
    _describe -t commands 'bench logs commands' commands "$@"
}
(( $+functions[_bench__artifacts_commands] )) ||
_bench__artifacts_commands() {
    local commands; commands=(
        'list:List the files that a run'\''s workers left, newest first.' \
        'get:Download one of those files.' \
    )
    _describe -t commands 'bench artifacts commands' commands "$@"
}
(( $+functions[_bench__artifacts__list_commands] )) ||
_bench__artifacts__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench artifacts list commands' commands "$@"
}
(( $+functions[_bench__artifacts__get_commands] )) ||
_bench__artifacts__get_commands() {
    local commands; commands=()
    _describe -t commands 'bench artifacts get commands' commands "$@"
}
(( $+functions[_bench__export_commands] )) ||
_bench__export_commands() {
    local commands; commands=()
    _describe -t commands 'bench export commands' commands "$@"
}
(( $+functions[_bench__report_commands] )) ||
_bench__report_commands() {
    local commands; commands=()
    _describe -t commands 'bench report commands' commands "$@"
}
(( $+functions[_bench__compare_commands] )) ||
_bench__compare_commands() {
    local commands; commands=()
    _describe -t commands 'bench compare commands' commands "$@"
}
(( $+functions[_bench__baseline_commands] )) ||
_bench__baseline_commands() {
    local commands; commands=(
        'save:Save a run as a baseline to compare with.' \
        'list:List the baselines of the project.' \
        'use:Choose the baseline that `current` means.' \
        'remove:Forget a baseline; its run is kept.' \
    )
    _describe -t commands 'bench baseline commands' commands "$@"
}
(( $+functions[_bench__baseline__save_commands] )) ||
_bench__baseline__save_commands() {
    local commands; commands=()
    _describe -t commands 'bench baseline save commands' commands "$@"
}
(( $+functions[_bench__baseline__list_commands] )) ||
_bench__baseline__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench baseline list commands' commands "$@"
}
(( $+functions[_bench__baseline__use_commands] )) ||
_bench__baseline__use_commands() {
    local commands; commands=()
    _describe -t commands 'bench baseline use commands' commands "$@"
}
(( $+functions[_bench__baseline__remove_commands] )) ||
_bench__baseline__remove_commands() {
    local commands; commands=()
    _describe -t commands 'bench baseline remove commands' commands "$@"
}
(( $+functions[_bench__push_commands] )) ||
_bench__push_commands() {
    local commands; commands=()
    _describe -t commands 'bench push commands' commands "$@"
}
(( $+functions[_bench__auth_commands] )) ||
_bench__auth_commands() {
    local commands; commands=(
        'login:Sign in to a platform in the browser, or with --api-key (- reads it from standard input).' \
        'logout:Forget what was saved by signing in.' \
        'status:Show who is signed in, to which platform; exit code 2 when nobody is.' \
    )
    _describe -t commands 'bench auth commands' commands "$@"
}
(( $+functions[_bench__auth__login_commands] )) ||
_bench__auth__login_commands() {
    local commands; commands=()
    _describe -t commands 'bench auth login commands' commands "$@"
}
(( $+functions[_bench__auth__logout_commands] )) ||
_bench__auth__logout_commands() {
    local commands; commands=()
    _describe -t commands 'bench auth logout commands' commands "$@"
}
(( $+functions[_bench__auth__status_commands] )) ||
_bench__auth__status_commands() {
    local commands; commands=()
    _describe -t commands 'bench auth status commands' commands "$@"
}
(( $+functions[_bench__org_commands] )) ||
_bench__org_commands() {
    local commands; commands=(
        'list:List your organizations on the platform.' \
        'use:Choose the organization to record under.' \
    )
    _describe -t commands 'bench org commands' commands "$@"
}
(( $+functions[_bench__org__list_commands] )) ||
_bench__org__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench org list commands' commands "$@"
}
(( $+functions[_bench__org__use_commands] )) ||
_bench__org__use_commands() {
    local commands; commands=()
    _describe -t commands 'bench org use commands' commands "$@"
}
(( $+functions[_bench__serve_commands] )) ||
_bench__serve_commands() {
    local commands; commands=(
        'keys:API keys of a served platform.' \
        'orgs:Organizations of a served platform.' \
        'prune:Remove runs that have not changed for a while, with everything in them.' \
    )
    _describe -t commands 'bench serve commands' commands "$@"
}
(( $+functions[_bench__serve__keys_commands] )) ||
_bench__serve__keys_commands() {
    local commands; commands=(
        'create:Create an API key and show it, this once.' \
        'list:List API keys, without their secrets.' \
        'revoke:End an API key, and the logins that were approved with it.' \
    )
    _describe -t commands 'bench serve keys commands' commands "$@"
}
(( $+functions[_bench__serve__keys__create_commands] )) ||
_bench__serve__keys__create_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve keys create commands' commands "$@"
}
(( $+functions[_bench__serve__keys__list_commands] )) ||
_bench__serve__keys__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve keys list commands' commands "$@"
}
(( $+functions[_bench__serve__keys__revoke_commands] )) ||
_bench__serve__keys__revoke_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve keys revoke commands' commands "$@"
}
(( $+functions[_bench__serve__orgs_commands] )) ||
_bench__serve__orgs_commands() {
    local commands; commands=(
        'create:Create an organization.' \
        'list:List organizations.' \
    )
    _describe -t commands 'bench serve orgs commands' commands "$@"
}
(( $+functions[_bench__serve__orgs__create_commands] )) ||
_bench__serve__orgs__create_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve orgs create commands' commands "$@"
}
(( $+functions[_bench__serve__orgs__list_commands] )) ||
_bench__serve__orgs__list_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve orgs list commands' commands "$@"
}
(( $+functions[_bench__serve__prune_commands] )) ||
_bench__serve__prune_commands() {
    local commands; commands=()
    _describe -t commands 'bench serve prune commands' commands "$@"
}

if [ "$funcstack[1]" = "_bench_zsh_completions" ]; then
    _bench_zsh_completions "$@"
else
    compdef _bench_zsh_completions bench
fi
