/** The document's types. Absent, `undefined` and `null` mean the same: "not set". */
type Json = unknown;
type Unknown = { [field: string]: Json };

export type KeywordCondition = {
	type: "keyword";
	keywords?: string[];
	match?: "word" | "substring" | "regex";
	source?: "assistant" | "user" | "any";
};
export type ToolCallCondition = {
	type: "tool_call";
	toolName: string;
	outcome?: "any" | "success" | "error";
	where?: string | null;
};
export type IntentCondition = {
	type: "intent";
	intent: string;
	confidence?: number;
	examples?: string[];
	description?: string | null;
};
export type LLMDecisionCondition = { type: "llm_decision"; description?: string | null };
export type MaxTurnsCondition = { type: "max_turns"; count: number };
export type TimeoutCondition = {
	type: "timeout";
	durationMs: number;
	since?: "stage_entered" | "last_activity";
};
export type CustomCondition = { type: "custom"; expression?: string; when?: "after" | "before" };
export type Condition =
	| KeywordCondition
	| ToolCallCondition
	| IntentCondition
	| LLMDecisionCondition
	| MaxTurnsCondition
	| TimeoutCondition
	| CustomCondition;

export type LLMConfig = {
	provider?: string | null;
	model?: string | null;
	temperature?: number | null;
	maxTokens?: number | null;
	topP?: number | null;
	effort?: string | null;
	stopSequences?: string[] | null;
};
export type ToolChoice = "auto" | "none" | "required" | { name: string };
export type SetAction = { set: Record<string, string> };
export type CallAction = { call: string; arguments?: Unknown };
export type StageAction = SetAction | CallAction;
export type StageContextPolicy = {
	artifactThreshold?: number | null;
	artifactPreview?: number | null;
	artifactTools?: boolean | null;
	compaction?: boolean | null;
	budgetTokens?: number | null;
	budgetTarget?: number | null;
	keepRecent?: number | null;
	summaries?: "model_given" | "llm" | "rules" | null;
	cachePoints?: number | null;
};
export type ContextPolicy = StageContextPolicy & {
	layout?: "append" | "swap" | null;
	cacheTtl?: "auto" | "5m" | "1h" | null;
	stateCompression?: boolean | null;
	fullStateInterval?: number | null;
};
export type MockResponse = { when?: string | null; result?: Json; error?: string | null; delayMs?: number };
export type ToolImplementation =
	| {
			type: "http";
			method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
			url: string;
			headers?: Record<string, string>;
			query?: Unknown;
			body?: Json;
			timeoutMs?: number;
			resultPath?: string | null;
	  }
	| { type: "mcp"; server: string; tool: string }
	| { type: "mock"; responses?: MockResponse[] }
	| { type: "python"; name: string }
	| { type: "expression"; expression: string }
	| { type: "client" };
export type ToolDefinition = {
	name: string;
	description?: string;
	parameters?: Unknown;
	executionPolicy?: "parallel" | "sequential";
	approval?: "never" | "first" | "always";
	implementation?: ToolImplementation | null;
	saveAs?: string | null;
};
export type Stage = {
	id: string;
	name: string;
	systemPrompt: string;
	description?: string | null;
	kind?: "chat" | "raw" | "end";
	tools?: ToolDefinition[];
	toolChoice?: ToolChoice;
	llmConfig?: LLMConfig | null;
	twoPhaseExecution?: boolean;
	maxTurns?: number | null;
	timeoutMs?: number | null;
	speakOnEnter?: boolean;
	context?: StageContextPolicy | null;
	onEnter?: StageAction[];
	onExit?: StageAction[];
	metadata?: Unknown | null;
};
export type TransitionAction = {
	targetStage?: string | null;
	mode?: "goto" | "call" | "return";
	transitionMessage?: string | null;
	clearHistory?: boolean;
	data?: Unknown | null;
};
export type Transition = {
	id: string;
	from: string;
	condition: Condition;
	action: TransitionAction;
	priority?: number;
	description?: string | null;
	disabled?: boolean;
	metadata?: Unknown | null;
};
export type Options = {
	maxToolCallsPerTurn?: number;
	phase1TimeoutMs?: number;
	turnTimeoutMs?: number;
	llmRetries?: number;
	historyLimit?: number | null;
	replyHold?: number | null;
	maxTransitionsPerTurn?: number;
	maxCallDepth?: number;
	intentClassifier?: "auto" | "keyword" | "embedding" | "llm";
	debug?: boolean;
};
export type Variable = { name: string; schema?: Unknown | null; default?: Json; description?: string | null };
export type Agent = { name: string; playbook: string; description?: string | null };
export type Playbook = {
	formatVersion?: 1;
	id: string;
	name: string;
	description?: string | null;
	version?: string | null;
	stages: Stage[];
	transitions?: Transition[];
	initialStage: string;
	globalTools?: ToolDefinition[];
	globalSystemPrompt?: string | null;
	defaultLLMConfig?: LLMConfig | null;
	options?: Options;
	context?: ContextPolicy;
	variables?: Variable[];
	agents?: Agent[];
	metadata?: Unknown | null;
};
/** A place on the canvas, in canvas pixels; the top left corner of a card. */
export type Position = { x: number; y: number };
