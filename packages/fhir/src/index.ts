// The public face of @praxis/fhir. Pure: no I/O; runs in Node and browsers.
export {
  type Budget,
  type BudgetExcess,
  type BudgetedWork,
  type BudgetLimits,
  openAllotment,
  openBudget,
  type StepBudget,
  sliceMs,
  stepsPerTurn,
} from './budget.ts';
export {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findElementByJsonName,
  findPrimitivePattern,
  findTypeDefinition,
  findValueSetCodes,
  findValueSetCodings,
  isPrimitiveType,
  isSubtypeOf,
  type JsonElement,
  r4Version,
  resourceTypes,
  resourceTypesWithEndpoint,
  type TypeDefinition,
} from './definitions.ts';
export { errata } from './errata.ts';
export { FhirPathError } from './fhirpath/fhirpath-error.ts';
export type { TypedValue } from './fhirpath/focus.ts';
export { findReferencedType } from './fhirpath/referenced-type.ts';
// The types of the resources that somebody reads or makes element by element, and of the datatypes in them.
export type * from './generated/types.ts';
export { listMembersAskedTogether } from './invariants/asked-members.ts';
export { checkInvariants, checkInvariantsInSlices, type InvariantBreach } from './invariants/check.ts';
export { type Invariant, invariantPaths, listInvariants, listInvariantsAt } from './invariants/declared.ts';
export {
  formatDecimal,
  isJsonObject,
  isRawDecimal,
  JsonError,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseJsonObject,
} from './json.ts';
export { isWrittenInParts, parseJsonInParts, writeJsonInParts } from './json-in-parts.ts';
export { loadOfficialProfiles, type OfficialProfiles } from './official-profiles.ts';
export { readFhirPathPatch } from './patch/fhirpath-patch.ts';
export { readJsonPatch } from './patch/json-patch.ts';
export { type Patch, PatchError } from './patch/patch.ts';
export { practiceExtensions, practiceIdentifierSystems } from './practice-search-parameters.ts';
export {
  compartments,
  compileCompositeExtractor,
  compileExtractor,
  countCompileSteps,
  type Extract,
  getSearchParameters,
  listExpressionElements,
  listParameterElements,
  listResultTypes,
  patientCompartment,
  type SearchParameter,
  type SearchParameterKind,
  searchParameterFrom,
} from './search-parameters.ts';
export { findNearestName, suggestName } from './suggestion.ts';
export {
  loadTerminology,
  type PublishedCodeSystem,
  type PublishedValueSet,
} from './terminology.ts';
export type { TypedResource } from './typed-resource.ts';
export { findUnusedContained, type ValidationIssue, validateInSlices, validateResource } from './validate.ts';
export { parseXml, parseXmlInParts } from './xml/parse-xml.ts';
export { toXml, toXmlParts } from './xml/to-xml.ts';
export { XmlError, type XmlRule } from './xml/xml-error.ts';
