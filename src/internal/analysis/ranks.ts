/** Places, shared by those that cannot be told apart. */

/** What participants are ordered by. */
export interface Criterion<A> {
  /** More is better. Those without a value come last. */
  readonly value: (participant: A) => number | undefined
  /** Whether the first, which is not worse, is better than the second beyond doubt. */
  readonly isBetter: (first: A, second: A) => boolean
}

export interface Place<A> {
  readonly participant: A
  /** From 1. */
  readonly rank: number
  readonly tied: boolean
}

/**
 * Best first. Down the order, a participant shares the rank of the first one with that rank unless that one is better
 * beyond doubt; those that share a rank by one criterion are ordered by the next.
 */
export const rank = <A>(
  participants: ReadonlyArray<A>,
  criteria: ReadonlyArray<Criterion<A>>
): ReadonlyArray<Place<A>> => {
  const groups = criteria.reduce<ReadonlyArray<ReadonlyArray<A>>>(
    (groups, criterion) => groups.flatMap((group) => split(group, criterion)),
    [participants]
  )
  let before = 0
  return groups.flatMap((group) => {
    const rank = before + 1
    before += group.length
    return group.map((participant) => ({ participant, rank, tied: group.length > 1 }))
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const split = <A>(group: ReadonlyArray<A>, { isBetter, value }: Criterion<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const sorted = [...group].sort((a, b) => compare(value(a), value(b)))
  const groups: Array<Array<A>> = []
  for (const participant of sorted) {
    const last = groups[groups.length - 1]
    const best = last?.[0]
    if (last === undefined || best === undefined || isBetter(best, participant)) groups.push([participant])
    else last.push(participant)
  }
  return groups
}

/** Greatest first, none last. */
const compare = (a: number | undefined, b: number | undefined): number =>
  a === b ? 0 : a === undefined ? 1 : b === undefined ? -1 : b - a
