/**
 * The TypeScript SDK of Praxis. Begin with `connect`.
 * @packageDocumentation
 */
export type {
  Booking,
  FindQuery,
  Hold,
  NewAppointment,
  SlotPlace,
} from './booking.ts';
export type { BundleAnswers, BundleBuilder, Entry } from './bundle.ts';
export { connect, type Praxis, type SearchOptions, type WriteOutcome } from './connect.ts';
export type { ClientCredentials, Credentials, PasswordCredentials } from './credentials.ts';
export { type CursorStore, makeMemoryCursor } from './cursor.ts';
export type { Documents, UploadOptions } from './documents.ts';
export {
  type Alternative,
  AwaitingAcceptanceError,
  ConflictError,
  CredentialsError,
  type Failure,
  FeedEndedError,
  ForbiddenError,
  GoneError,
  InvalidError,
  type Issue,
  NoAnswerError,
  NotFoundError,
  OutdatedError,
  PraxisError,
  RateLimitError,
  ServiceError,
  SlotTakenError,
  TokenError,
} from './errors.ts';
export type { ChangePage, DeletedChange, FollowedChange, FollowOptions, SavedChange } from './follow.ts';
export type * from './generated/resources.ts';
export type { CommonParameterKinds, ParameterKinds, To } from './generated/search-parameters.ts';
export { findParameter, makeParameters } from './parameters.ts';
export {
  type AnyInclude,
  escapeValue,
  type Filter,
  matchAny,
  type SearchableType,
  type SearchQuery,
  type SearchValue,
} from './query.ts';
export type { Change, CreateOptions, PatchOperation, UpdateOptions, VersionOptions } from './records.ts';
export type { New, OneOrMore, ResourceType, Saved, SavedMeta, Version } from './resource.ts';
export type { Pages, Search, SearchPage } from './search.ts';
export type {
  CallOptions,
  Clock,
  ConnectOptions,
  Hooks,
  RequestEvent,
  RequestKind,
  ResponseEvent,
  RetryEvent,
  RetryOptions,
  WriteOptions,
} from './settings.ts';
