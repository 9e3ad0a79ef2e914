/** Signing in on another device: the routes for the device, and those for the person. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import type { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Option from "effect/Option"
import type { AccountStore } from "../../sql/accounts/model.js"
import * as Approval from "./approval.js"
import * as Grants from "./grants.js"

/** Below which paths the routes are. */
export const paths = ["/api/auth", Approval.devicePath]

/** Without a public URL, the address that a request was sent to is the platform's. */
export const make = (store: AccountStore, publicUrl: string | undefined): HttpRouter.HttpRouter<RequestError> => {
  const root = publicUrl?.replace(/\/+$/, "")
  const originOf: Approval.OriginOf = (request) =>
    root === undefined
      ? Option.match(HttpServerRequest.toURL(request), { onNone: () => "", onSome: (url) => url.origin })
      : new URL(root).origin
  const verificationUri = (request: HttpServerRequest.HttpServerRequest) =>
    `${root ?? originOf(request)}${Approval.devicePath}`
  return HttpRouter.empty.pipe(
    HttpRouter.post(Grants.deviceCodePath, Grants.makeCodes(store, verificationUri)),
    HttpRouter.post(Grants.tokenPath, Grants.makeTokens(store)),
    HttpRouter.get(Approval.devicePath, Approval.makeShow(originOf)),
    HttpRouter.post(Approval.devicePath, Approval.makeDecide(store, originOf))
  )
}
