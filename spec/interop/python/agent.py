"""The agent of the interoperation suite on the Python SDK 1.x: 1.0, and 0.3 by the SDK's own compatibility layer, at one URL.

What it does is said by the first word of a message; scenario.ts lists the words.
"""

import asyncio

import httpx
from starlette.applications import Starlette

from a2a.helpers.proto_helpers import new_data_part, new_raw_part, new_task_from_user_message, new_text_message, new_text_part, new_url_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role

from serving import listen, serve


class Obedient(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        word, _, rest = context.get_user_input().partition(' ')
        if word == 'say':
            await event_queue.enqueue_event(new_text_message(rest, context_id=context.context_id, role=Role.ROLE_AGENT))
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if word == 'ask':
            question = updater.new_agent_message([new_text_part('what?')])
            await updater.requires_input(question)
            return
        if word == 'fail':
            await updater.failed(updater.new_agent_message([new_text_part('as told')]))
            return
        if word == 'throw':
            raise RuntimeError('broken as told')
        while word == 'slow':
            await asyncio.sleep(0.1)
            await updater.start_work()
        if word == 'quiet':
            await asyncio.sleep(int(rest) / 1000)
        elif word == 'stream':
            for chunk in ('one', 'two', 'three'):
                await updater.add_artifact(
                    [new_text_part(chunk)], artifact_id='chunks', append=chunk != 'one', last_chunk=chunk == 'three'
                )
        elif word == 'parts':
            parts = [
                new_text_part('grüß ☃'),
                new_data_part({'n': 1.5, 'list': [True, None], 'deep': {'text': 'x'}}),
                new_raw_part(bytes([0, 250, 255, 62, 63]), media_type='application/octet-stream', filename='five.bin'),
                new_url_part('https://agent.example/file', media_type='text/plain'),
            ]
            await updater.add_artifact(parts, artifact_id='parts')
        else:
            await updater.add_artifact([new_text_part(rest)], artifact_id='echo')
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card(url: str) -> AgentCard:
    return AgentCard(
        name='Obedient',
        description='Does what the first word of a message says.',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version=version) for version in ('1.0', '0.3')
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='obey', name='Obey', description='Does as told.', tags=['test'])],
    )


def main() -> None:
    listener, url = listen()
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Obedient(),
        task_store=InMemoryTaskStore(),
        agent_card=card(url),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    routes = [*create_agent_card_routes(card(url)), *create_jsonrpc_routes(handler, '/', enable_v0_3_compat=True)]
    serve(Starlette(routes=routes), listener, url)


main()
