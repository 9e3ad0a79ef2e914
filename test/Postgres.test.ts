import { suite } from "./contract/platform.js"
import { sharedServer } from "./support/postgres.js"

const postgres = sharedServer()

suite("SqlPlatform in PostgreSQL", postgres.layer)
