import * as SqlPlatform from "../src/SqlPlatform.js"
import { suite } from "./contract/platform.js"
suite("in memory", SqlPlatform.layerMemory)
