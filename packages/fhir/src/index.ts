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
  type ElementDefinition,
  type ElementType,
  elementByJsonName,
  isPrimitiveType,
  isSubtypeOf,
  type JsonElement,
  jsonNameOf,
  primitivePattern,
  r4Version,
  resourceTypes,
  resourceTypesWithEndpoint,
  type TypeDefinition,
  type TypeKind,
  typeDefinition,
  valueSetCodes,
  valueSetCodings,
} from './definitions.ts';
export { errata } from './errata.ts';
export type { Erratum, ErratumChange } from './erratum.ts';
export { FhirPathError } from './fhirpath/fhirpath-error.ts';
export type { TypedValue } from './fhirpath/focus.ts';
export { referencedType } from './fhirpath/referenced-type.ts';
// The types of the resources that somebody reads or makes element by element, and of the datatypes in them.
export type * from './generated/types.ts';
export { membersAskedTogether } from './invariants/asked-members.ts';
export {
  checkInvariants,
  checkInvariantsInSlices,
  type InvariantBreach,
  type InvariantOptions,
} from './invariants/check.ts';
export type { ConvertibleUnit, FindUnit } from './invariants/compare.ts';
export { type Invariant, invariantPaths, invariantsAt, invariantsOf } from './invariants/declared.ts';
export {
  decimalText,
  isJsonObject,
  isRawDecimal,
  JsonError,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  parseJson,
  parseJsonObject,
  type RawDecimal,
} from './json.ts';
export { isWrittenInParts, parseJsonInParts, writeJsonInParts } from './json-in-parts.ts';
export { loadOfficialProfiles, type OfficialProfiles } from './official-profiles.ts';
export { readFhirPathPatch } from './patch/fhirpath-patch.ts';
export { patchOperationsMax, readJsonPatch } from './patch/json-patch.ts';
export { type Patch, PatchError, type PatchTouch } from './patch/patch.ts';
export { practiceExtensions, practiceIdentifierSystems } from './practice-search-parameters.ts';
export type { SearchParameterRow } from './search-parameter-rows.ts';
export {
  compartments,
  compositeExtractor,
  type Extract,
  elementsOfParameter,
  extractor,
  patientCompartment,
  resultTypes,
  type SearchParameter,
  type SearchParameterKind,
  searchParameterFrom,
  searchParameterKinds,
  searchParametersOf,
  stepsOfCompiling,
  touchedElements,
} from './search-parameters.ts';
export {
  loadTerminology,
  type PublishedCodeSystem,
  type PublishedComposePart,
  type PublishedConcept,
  type PublishedTerminology,
  type PublishedValueSet,
} from './terminology.ts';
export type { TypedResource } from './typed-resource.ts';
export { unusedContained, type ValidationIssue, validateResource } from './validate.ts';
export { parseXml } from './xml/parse-xml.ts';
export { toXml, type XmlOptions, xmlParts } from './xml/to-xml.ts';
export { XmlError, type XmlRule } from './xml/xml-error.ts';
