/** Parameters that are sent as texts, without pg's own conversion. */

/** Whether all parameters are sent as their texts, so that writing them cannot fail. */
export function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => value === null || typeof value === 'string' || typeof value === 'number');
}

/** Parameters of which `areTexts` holds. */
export function toParameterTexts(values: readonly unknown[]): readonly (string | null)[] {
  return values.map((value) => (value === null ? null : String(value)));
}
