package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.meaning.Evaluator._
import scala.collection.mutable

/** Groups and their aggregates, each group in one go. */
object Aggregation {
  def rows(aggregate: Aggregate): Rows = aggregate match {
    case PhysicalAggregation(groups, calls, results, child) =>
      val input = child.output
      val found = grouped(Evaluator.rows(child), groups, input)
      if (groups.isEmpty && found.isEmpty) found(Seq()) = (InternalRow.empty, mutable.ArrayBuffer())
      val functions = calls.map(_.asInstanceOf[AggregateExpression])
      val attributes = groups.map(_.toAttribute) ++ functions.map(_.resultAttribute)
      val shown = project(results, attributes)
      val evaluate = functions.map(aggregator(_, input))
      found.values.toIndexedSeq.map { case (group, members) =>
        shown(row(values(group, groups.map(_.toAttribute)) ++ evaluate.map(_(members.toSeq))))
      }
  }

  /** The function over the rows of one group. */
  def aggregator(call: AggregateExpression, input: Seq[Attribute]): Seq[InternalRow] => Any = {
    val passes = call.filter.map(predicate(_, input))
    val evaluate = call.aggregateFunction match {
      case function: DeclarativeAggregate => declarative(function, input)
      case function: ImperativeAggregate => imperative(function, input)
    }
    members => {
      val counted = passes.fold(members)(members.filter)
      evaluate(if (call.isDistinct) distinct(counted, call.aggregateFunction.children, input) else counted)
    }
  }

  private def distinct(members: Seq[InternalRow], by: Seq[Expression], input: Seq[Attribute]): Seq[InternalRow] =
    grouped(members.toIndexedSeq, by.map { case SortOrder(value, _, _, _) => value; case other => other }.filterNot(_.foldable), input)
      .values.map(_._2.head).toSeq

  /** `known`: with what is known of the group in the place of names. */
  def declarative(function: DeclarativeAggregate, input: Seq[Attribute],
                  known: Expression => Expression = identity): Seq[InternalRow] => Any = {
    val buffer = function.aggBufferAttributes
    val start = project(function.initialValues.map(known), Seq())
    val updates = function.updateExpressions.zip(buffer).map { case (update, before) => if (update == NoOp) before else known(update) }
    val update = project(updates, buffer ++ input)
    val end = bound(known(function.evaluateExpression), buffer)
    members => end.eval(members.foldLeft(start(InternalRow.empty)) { (state, member) =>
      update(row(values(state, buffer) ++ values(member, input)))
    })
  }

  private def imperative(function: ImperativeAggregate, input: Seq[Attribute]): Seq[InternalRow] => Any = {
    val placed = function.withNewMutableAggBufferOffset(0).withNewInputAggBufferOffset(0)
    val found = bound(placed, input).asInstanceOf[ImperativeAggregate]
    members => {
      val state = new SpecificInternalRow(found.aggBufferAttributes.map(_.dataType))
      found.initialize(state)
      members.foreach(found.update(state, _))
      found.eval(state)
    }
  }
}
