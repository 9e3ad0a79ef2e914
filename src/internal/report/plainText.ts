/** Names, units and messages come from users and providers: nothing in them may act on where they are shown. */
import { stripVTControlCharacters } from "node:util"

/**
 * One line that is only text: escape sequences are removed, line breaks and tabs become spaces, and other control
 * characters, those that change the direction of writing, and halves of characters become U+FFFD. What is longer than
 * `length` UTF-16 units is cut, which shows; no character is cut in half.
 */
export const plain = (text: string, length = 500): string => {
  // Cleaning costs as much as there is to clean.
  const line = stripVTControlCharacters(text.slice(0, 4 * length))
    .replace(/[\r\n\t\u2028\u2029]+/g, " ")
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/gu,
      "\ufffd"
    )
    .trim()
  return line.length <= length && text.length <= 4 * length
    ? line
    : `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

/** The name of a participant, a metric, a step or a phase. */
export const nameText = (text: string): string => plain(text, 80) || "(no name)"
