/** Fewer things to draw than there are samples, without hiding the extremes. */

export interface Sample {
  readonly x: number
  readonly y: number
}

/** What falls into one column of the drawing. */
export interface Column {
  readonly x: number
  readonly low: number
  readonly median: number
  readonly high: number
}

/**
 * Splits the width from `from` to `to` into `count` columns and gives the least, the middle and the greatest value of each:
 * a drawing that is `count` pixels wide shows the same extremes as one of all samples. Columns without samples are left
 * out. Neighbours are in one list; where one or more are left out, the next list begins.
 *
 * Source: the aggregation by pixel columns of Jugel, Jerzak, Hackenbroich & Markl, "M4: A Visualization-Oriented Time
 * Series Data Aggregation", PVLDB 7(10), 2014; without first and last values, because nothing is drawn between columns
 * that would need them, and with the median instead.
 */
export const columnsOf = (
  samples: ReadonlyArray<Sample>,
  range: { readonly from: number; readonly to: number; readonly count: number }
): ReadonlyArray<ReadonlyArray<Column>> => {
  const { count, from, to } = range
  const width = (to - from) / count
  const filled: Array<Array<number> | undefined> = Array.from({ length: count })
  for (const { x, y } of samples) {
    const place = width > 0 ? Math.min(count - 1, Math.max(0, Math.floor((x - from) / width))) : 0
    const column = filled[place]
    if (column === undefined) filled[place] = [y]
    else column.push(y)
  }
  const stretches: Array<Array<Column>> = []
  let current: Array<Column> | undefined
  filled.forEach((values, i) => {
    if (values === undefined) {
      current = undefined
      return
    }
    const sorted = Float64Array.from(values).sort()
    const last = sorted.length - 1
    const at = (index: number): number => sorted[index] ?? 0
    if (current === undefined) stretches.push((current = []))
    current.push({
      x: from + width * (i + 0.5),
      low: at(0),
      median: at(Math.ceil(sorted.length / 2) - 1),
      high: at(last)
    })
  })
  return stretches
}

/**
 * Points of the cumulative distribution of sorted samples: for so many values at most, the fraction of samples that are
 * not greater. The least and the greatest are always among them.
 */
export const cumulativeOf = (sorted: ArrayLike<number>, limit: number): ReadonlyArray<Sample> => {
  const total = sorted.length
  const steps = Math.min(total, limit)
  return Array.from({ length: steps }, (_, i) => {
    const index = steps === 1 ? total - 1 : Math.round((i / (steps - 1)) * (total - 1))
    return { x: sorted[index] ?? 0, y: (index + 1) / total }
  })
}
