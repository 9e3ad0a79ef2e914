/** The page on which a person approves a device. It runs no scripts, and loads nothing. */
import * as Crypto from "node:crypto"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

/** What the form is shown with. A key that was entered is never shown again. */
export interface FormState {
  readonly csrf: string
  readonly userCode: string
  readonly organization: string
  /** What is wrong with what was entered before. */
  readonly problem?: string | undefined
}

/** The form for a code, a key and a decision. */
export const form = (state: FormState, status = 200): HttpServerResponse.HttpServerResponse =>
  respond(
    status,
    `<p>A program on another device asks to sign in. Approve it only if you have started it yourself and it shows this code.</p>
${state.problem === undefined ? "" : `<p class="problem" role="alert">${escape(state.problem)}</p>`}
<form method="post">
<input type="hidden" name="csrf" value="${escape(state.csrf)}">
<label>Code <input name="user_code" value="${escape(state.userCode)}" placeholder="XXXX-XXXX" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="40"></label>
<label>API key <input name="key" type="password" required autocomplete="off" maxlength="500"></label>
<label>Organization <small>only with the admin key</small> <input name="organization" value="${escape(state.organization)}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="100"></label>
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny" formnovalidate>Deny</button>
</form>`
  )

/** What became of the decision. */
export const decided = (text: string): HttpServerResponse.HttpServerResponse =>
  respond(200, `<p role="status">${escape(text)}</p>`)

/** That nothing can be decided now. */
export const unavailable = (
  text: string,
  status: number,
  headers?: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse => respond(status, `<p role="alert">${escape(text)}</p>`, headers)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem;color-scheme:light dark}
label{display:block;margin:1rem 0}input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4rem}
button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}.problem{border-left:.25rem solid #c00;padding-left:.75rem}`

const styleHash = Crypto.createHash("sha256").update(style).digest("base64")

const headers = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  "cache-control": "no-store",
  // The form's own origin has to be told when it is sent; nobody else learns the code.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const respond = (status: number, content: string, more?: Readonly<Record<string, string>>) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in a device</title>
<style>${style}</style>
</head>
<body>
<h1>Sign in a device</h1>
${content}
</body>
</html>
`,
    { status, contentType: "text/html; charset=utf-8", headers: { ...headers, ...more } }
  )

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? "")
