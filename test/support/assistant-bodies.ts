// The nine fields that every assistant needs.

export const requiredFields = {
  assistant_name: 'Front desk',
  voice_id: 1,
  language: 'English',
  llm_model: 'gpt-4o',
  calls_direction: 'make' as const,
  engine_type: 'pipeline' as const,
  timezone: 'Europe/Amsterdam',
  initial_message: 'Hello',
  system_prompt: 'Be kind.'
}
