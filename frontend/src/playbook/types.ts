/** The document's types, from the generated schema. Absent, `undefined` and `null` mean the same: "not set". */
import type { components } from "../api/schema.gen";

type Schemas = components["schemas"];

export type Playbook = Schemas["Playbook"];
export type Stage = Schemas["Stage"];
export type Transition = Schemas["Transition"];
export type TransitionAction = Schemas["TransitionAction"];
export type Condition = Transition["condition"];
export type KeywordCondition = Schemas["KeywordCondition"];
export type ToolCallCondition = Schemas["ToolCallCondition"];
export type IntentCondition = Schemas["IntentCondition"];
export type LLMDecisionCondition = Schemas["LLMDecisionCondition"];
export type MaxTurnsCondition = Schemas["MaxTurnsCondition"];
export type TimeoutCondition = Schemas["TimeoutCondition"];
export type CustomCondition = Schemas["CustomCondition"];
export type LLMConfig = Schemas["LLMConfig"];
export type ToolChoice = NonNullable<Stage["toolChoice"]>;
export type StageAction = NonNullable<Stage["onEnter"]>[number];
export type StageContextPolicy = Schemas["StageContextPolicy"];
export type ContextPolicy = Schemas["ContextPolicy"];
export type Options = Schemas["Options"];
export type ToolDefinition = Schemas["ToolDefinition"];
export type ToolImplementation = NonNullable<ToolDefinition["implementation"]>;
export type MockResponse = Schemas["MockResponse"];
export type Variable = Schemas["Variable"];
export type Agent = Schemas["Agent"];

/** A place on the canvas, in canvas pixels; the top left corner of a card. */
export type Position = { x: number; y: number };
