import { Effect, Layer } from "effect"
import * as Spool from "../src/Spool.js"
import { suite } from "./spool/contract.js"
import { temporaryDirectory } from "./spool/support.js"
suite("Spool in memory", Spool.layerMemory)
suite("Spool in a directory", Layer.unwrapScoped(Effect.map(temporaryDirectory, (d) => Spool.layerDirectory({ directory: d + "/spool" }))))
