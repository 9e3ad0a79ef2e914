function _bench_bash_completions() {
    local i cur prev opts cmd
    COMPREPLY=()
    cur="${COMP_WORDS[COMP_CWORD]}"
    prev="${COMP_WORDS[COMP_CWORD-1]}"
    cmd=""
    opts=""
    for i in "${COMP_WORDS[@]}"; do
        case "${cmd},${i}" in
            ",$1")
                cmd="bench"
                ;;
            bench,run)
                cmd="bench__run"
                ;;
            bench,check)
                cmd="bench__check"
                ;;
            bench,results)
                cmd="bench__results"
                ;;
            bench,runs)
                cmd="bench__runs"
                ;;
            bench,runs,list)
                cmd="bench__runs__list"
                ;;
            bench,runs,show)
                cmd="bench__runs__show"
                ;;
            bench,benchmarks)
                cmd="bench__benchmarks"
                ;;
            bench,benchmarks,list)
                cmd="bench__benchmarks__list"
                ;;
            bench,iterations)
                cmd="bench__iterations"
                ;;
            *)
                ;;
        esac
    done
    case "${cmd}" in
        bench)
            opts="-h --completions --log-level --help --wizard --version benchmarks check iterations results run runs"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__run)
            opts="-h --shape --provider --iterations --concurrency --stagger-delay-ms --group-by --benchmark --slug --name --run-key --no-ingest --dry-run --check --validate --config --local --format --json --quiet --verbose --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --shape)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --provider)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --iterations)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --concurrency)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --stagger-delay-ms)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --group-by)
                    COMPREPLY=( $(compgen -W "participant,round" -- "${cur}") )
                    return 0
                    ;;
                --benchmark|--slug)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --name)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --run-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --no-ingest|--dry-run)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --check|--validate)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --config)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --quiet)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__check)
            opts="-h --shape --provider --iterations --concurrency --stagger-delay-ms --group-by --benchmark --slug --name --run-key --no-ingest --dry-run --check --validate --config --local --format --json --quiet --verbose --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --shape)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --provider)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --iterations)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --concurrency)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --stagger-delay-ms)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --group-by)
                    COMPREPLY=( $(compgen -W "participant,round" -- "${cur}") )
                    return 0
                    ;;
                --benchmark|--slug)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --name)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --run-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --no-ingest|--dry-run)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --check|--validate)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --config)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --quiet)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__results)
            opts="-h --run --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__runs)
            opts="-h --completions --log-level --help --wizard --version list show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__runs__list)
            opts="-h --limit --offset --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --limit)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --offset)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__runs__show)
            opts="-h --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__benchmarks)
            opts="-h --completions --log-level --help --wizard --version list"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__benchmarks__list)
            opts="-h --limit --offset --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --limit)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --offset)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__iterations)
            opts="-h --run --type --participant --steps --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --type)
                    COMPREPLY=( $(compgen -W "tasks,steps" -- "${cur}") )
                    return 0
                    ;;
                --participant)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --steps)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,table" -- "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}
complete -F _bench_bash_completions -o nosort -o bashdefault -o default bench
