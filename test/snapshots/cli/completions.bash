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
            bench,worker)
                cmd="bench__worker"
                ;;
            bench,results)
                cmd="bench__results"
                ;;
            bench,iterations)
                cmd="bench__iterations"
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
            bench,logs)
                cmd="bench__logs"
                ;;
            bench,artifacts)
                cmd="bench__artifacts"
                ;;
            bench,artifacts,list)
                cmd="bench__artifacts__list"
                ;;
            bench,artifacts,get)
                cmd="bench__artifacts__get"
                ;;
            bench,export)
                cmd="bench__export"
                ;;
            bench,report)
                cmd="bench__report"
                ;;
            bench,compare)
                cmd="bench__compare"
                ;;
            bench,baseline)
                cmd="bench__baseline"
                ;;
            bench,baseline,save)
                cmd="bench__baseline__save"
                ;;
            bench,baseline,list)
                cmd="bench__baseline__list"
                ;;
            bench,baseline,use)
                cmd="bench__baseline__use"
                ;;
            bench,baseline,remove)
                cmd="bench__baseline__remove"
                ;;
            bench,push)
                cmd="bench__push"
                ;;
            bench,auth)
                cmd="bench__auth"
                ;;
            bench,auth,login)
                cmd="bench__auth__login"
                ;;
            bench,auth,logout)
                cmd="bench__auth__logout"
                ;;
            bench,auth,status)
                cmd="bench__auth__status"
                ;;
            bench,org)
                cmd="bench__org"
                ;;
            bench,org,list)
                cmd="bench__org__list"
                ;;
            bench,org,use)
                cmd="bench__org__use"
                ;;
            bench,serve)
                cmd="bench__serve"
                ;;
            bench,serve,keys)
                cmd="bench__serve__keys"
                ;;
            bench,serve,keys,create)
                cmd="bench__serve__keys__create"
                ;;
            bench,serve,keys,list)
                cmd="bench__serve__keys__list"
                ;;
            bench,serve,keys,revoke)
                cmd="bench__serve__keys__revoke"
                ;;
            bench,serve,orgs)
                cmd="bench__serve__orgs"
                ;;
            bench,serve,orgs,create)
                cmd="bench__serve__orgs__create"
                ;;
            bench,serve,orgs,list)
                cmd="bench__serve__orgs__list"
                ;;
            bench,serve,prune)
                cmd="bench__serve__prune"
                ;;
            *)
                ;;
        esac
    done
    case "${cmd}" in
        bench)
            opts="-h --completions --log-level --help --wizard --version artifacts auth baseline benchmarks check compare export iterations logs org push report results run runs serve worker"
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
            opts="-h --shape --provider --iterations --concurrency --stagger-delay-ms --group-by --benchmark --slug --name --run-key --worker-pool --threshold --no-ingest --dry-run --check --validate --config --local --base-url --api-key --org --format --json --log-format --quiet --verbose --completions --log-level --help --wizard --version"
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
                --worker-pool)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --threshold)
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
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
                --log-format)
                    COMPREPLY=( $(compgen -W "text,json" -- "${cur}") )
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
            opts="-h --shape --provider --iterations --concurrency --stagger-delay-ms --group-by --benchmark --slug --name --run-key --worker-pool --threshold --no-ingest --dry-run --check --validate --config --local --base-url --api-key --org --format --json --log-format --quiet --verbose --completions --log-level --help --wizard --version"
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
                --worker-pool)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --threshold)
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
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
                --log-format)
                    COMPREPLY=( $(compgen -W "text,json" -- "${cur}") )
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
        bench__worker)
            opts="-h --run --participant --forever --shape --concurrency --stagger-delay-ms --benchmark --slug --config --local --base-url --api-key --org --format --json --log-format --quiet --verbose --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --participant)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --forever)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --shape)
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
                --benchmark|--slug)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
                --log-format)
                    COMPREPLY=( $(compgen -W "text,json" -- "${cur}") )
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
            opts="-h --run --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
            opts="-h --run --type --participant --steps --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
            opts="-h --limit --offset --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
            opts="-h --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
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
            opts="-h --limit --offset --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__logs)
            opts="-h --run --participant --worker --max-lines --follow --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --participant)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --worker)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --max-lines)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --follow)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__artifacts)
            opts="-h --completions --log-level --help --wizard --version get list"
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
        bench__artifacts__list)
            opts="-h --run --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__artifacts__get)
            opts="-h --run --out --force --gunzip --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --out)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --force)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --gunzip)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__export)
            opts="-h --run --out --format --type --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --run)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --out)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "json,csv,ndjson" -- "${cur}") )
                    return 0
                    ;;
                --type)
                    COMPREPLY=( $(compgen -W "tasks,steps" -- "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__report)
            opts="-h --benchmark --out --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --benchmark)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --out)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "html,md,json,csv,junit" -- "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__compare)
            opts="-h --baseline --participants --benchmark --fail-on --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --baseline)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --participants)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --benchmark)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --json)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --format)
                    COMPREPLY=( $(compgen -W "table,markdown,json" -- "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__baseline)
            opts="-h --completions --log-level --help --wizard --version list remove save use"
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
        bench__baseline__save)
            opts="-h --benchmark --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --benchmark)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__baseline__list)
            opts="-h --json --format --local --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__baseline__use)
            opts="-h --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__baseline__remove)
            opts="-h --local --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --local)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__push)
            opts="-h --all --list --discard --force --api-key --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --all)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --list)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --discard)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --force)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --api-key)
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
        bench__auth)
            opts="-h --completions --log-level --help --wizard --version login logout status"
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
        bench__auth__login)
            opts="-h --base-url --api-key --org --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__auth__logout)
            opts="-h --base-url --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__auth__status)
            opts="-h --json --format --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__org)
            opts="-h --completions --log-level --help --wizard --version list use"
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
        bench__org__list)
            opts="-h --json --format --base-url --api-key --org --completions --log-level --help --wizard --version"
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
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__org__use)
            opts="-h --base-url --api-key --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --base-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --api-key)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__serve)
            opts="-h --port --host --database --artifacts --public-url --trusted-proxies --lease --completions --log-level --help --wizard --version keys orgs prune"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --port)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --host)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --database)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --artifacts)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --public-url)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --trusted-proxies)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --lease)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
            *)
                COMPREPLY=()
                ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        bench__serve__keys)
            opts="-h --completions --log-level --help --wizard --version create list revoke"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
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
        bench__serve__keys__create)
            opts="-h --org --name --expires --quiet --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --name)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --expires)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --quiet)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --database)
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
        bench__serve__keys__list)
            opts="-h --org --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --org)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --database)
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
        bench__serve__keys__revoke)
            opts="-h --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --database)
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
        bench__serve__orgs)
            opts="-h --completions --log-level --help --wizard --version create list"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
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
        bench__serve__orgs__create)
            opts="-h --name --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --name)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --database)
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
        bench__serve__orgs__list)
            opts="-h --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --database)
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
        bench__serve__prune)
            opts="-h --older-than --dry-run --artifacts --lease --database --json --format --completions --log-level --help --wizard --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --older-than)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --dry-run)
                    COMPREPLY=( "${cur}" )
                    return 0
                    ;;
                --artifacts)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --lease)
                    COMPREPLY=( $(compgen -f "${cur}") )
                    return 0
                    ;;
                --database)
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
